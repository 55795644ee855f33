import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sseReader } from '@millrace/core'
import { discoverAgents } from '@millrace/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testServer } from '../kit/server.ts'
import { PageReader, readAsPage } from '../kit/studio-page.ts'

interface Recorded {
  readonly method: string
  readonly path: string
  readonly body?: Record<string, unknown>
}
/** What ADK Studio's own page sent, recorded once in a browser; the page itself cannot be built here. */
const { requests } = JSON.parse(readFileSync(new URL('../kit/studio-page-requests.json', import.meta.url), 'utf8')) as {
  requests: readonly Recorded[]
}

let server: Awaited<ReturnType<typeof testServer>>
let address: string
beforeAll(async () => {
  const folder = fileURLToPath(new URL('../../agents/', import.meta.url))
  server = await testServer({ agents: discoverAgents(folder, { models: { tokensPerSecond: 200 } }) })
  address = await server.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => server.close(0))

test('the requests of ADK Studio’s page, one after the other, answered as its reader needs it', async () => {
  let session = ''
  const rest = [...requests]
  const next = async (method: string, path: RegExp, body?: unknown): Promise<Response> => {
    const request = rest.shift()
    expect(`${request?.method} ${request?.path}`).toMatch(new RegExp(`^${method} ${path.source}`))
    const sent = body ?? request?.body
    const answer = await fetch(address + (request?.path ?? '').replaceAll('{session}', session), {
      method,
      headers: { 'content-type': 'application/json' },
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
    })
    expect(answer.ok, `${method} ${request?.path} ${answer.status}`).toBe(true)
    return answer
  }
  const stream = async (input: RegExp, enough?: (reader: PageReader) => boolean): Promise<PageReader> => {
    const reader = await readAsPage(
      await next('GET', new RegExp(`.*/stream\\?input=${input.source}`)),
      new PageReader(),
      enough,
    )
    session = reader.session
    return reader
  }

  // The list, the canvas, and what the page keeps open and sends back.
  const projects = (await (await next('GET', /\/api\/projects$/)).json()) as { id: string; updated_at: string }[]
  expect(projects.map(({ id }) => id)).toContain('assistant')
  const project = (await (await next('GET', /\/api\/projects\/assistant$/)).json()) as {
    agents: Record<string, object>
  }
  const webhooks = await next('GET', /.*webhook-events/)
  const moved = Object.entries(project.agents).map(([id, agent]) => [id, { ...agent, position: { x: 10, y: 20 } }])
  const { settings, actionNodes } = requests.find(({ method }) => method === 'PUT')?.body ?? {}
  const saved = await next('PUT', /.*/, { ...project, settings, actionNodes, agents: Object.fromEntries(moved) })
  expect(await saved.json()).toMatchObject({ agents: project.agents })
  const built = sseReader().feed(await (await next('GET', /.*build-stream/)).text())
  expect(built.at(-1)).toEqual({ event: 'done', data: 'agent:assistant' })

  // A chat.
  const chat = await stream(/Add/)
  expect(chat.closed).toBe('end')
  expect(chat.messages).toEqual(['I added “Still waters run deep”. The list has 1 proverb now.'])
  expect(chat.log).toEqual(['Calling offline (tools: 5)', 'Calling offline (tools: 5)'])
  expect(chat.snapshots).toMatchObject([
    {
      node: 'assistant',
      input: { query: 'Add a proverb: Still waters run deep' },
      output: { proverbs: ['Still waters run deep'], response: chat.messages[0] },
    },
  ])

  // A question. The page can answer only after `end`, and then waits for a report that the run goes on.
  const asked = await stream(/Delete/)
  expect(asked).toMatchObject({
    closed: 'end',
    interrupt: { nodeId: 'assistant', message: 'Delete the only proverb?' },
  })
  const resumed = (await (await next('POST', /.*resume/)).json()) as { node_id: string }
  expect(resumed.node_id).toBe(asked.interrupt?.nodeId)
  const notices: unknown[] = []
  const frames = sseReader()
  const body = webhooks.body?.getReader()
  while (notices.length < 2)
    for (const { event, data } of frames.feed(new TextDecoder().decode((await body?.read())?.value)))
      notices.push([event, JSON.parse(data)])
  await body?.cancel()
  expect(notices).toMatchObject([
    ['connected', { project_id: 'assistant' }],
    ['webhook', { session_id: session, binary_path: 'agent:assistant' }],
  ])
  const answered = await stream(/__webhook__/)
  expect(answered.messages).toEqual(['Done: 1 proverb deleted.'])

  // Stop, and the conversation goes on; New, and it stays in the log.
  await stream(/Count/, ({ text }) => text.includes('4 5 6'))
  const stopped = session
  expect((await next('DELETE', /.*/)).status).toBe(204)
  expect(await server.log.get(stopped)).toMatchObject({ status: 'cancelled', runs: 4 })
  expect((await stream(/What/)).messages[0]).toMatch(/^In Lisbon/)
  expect(session).toBe(stopped)
  expect((await next('DELETE', /.*/)).status).toBe(204)
  expect((await stream(/Hello/)).messages).toEqual(['Hello! How can I help you?'])
  expect(session).not.toBe(stopped)
  expect(await server.log.get(stopped)).toMatchObject({ status: 'done', runs: 5 })
  expect(rest).toEqual([])
})

test('the answer of a coordinator is shown as its own, with the keys of every node on the edges', async () => {
  const input = encodeURIComponent('Give me a recovery briefing for Cedar Creek Fire')
  const answer = await fetch(`${address}/api/projects/recovery/stream?input=${input}&binary_path=b`)
  const page = await readAsPage(answer, new PageReader())
  expect(page.agent).toBe('coordinator')
  expect(page.messages).toHaveLength(1)
  expect(page.messages[0]).toMatch(/^\*\*Fire Severity:[\s\S]*Recommended Actions/)
  const project = (await (await fetch(`${address}/api/projects/recovery`)).json()) as {
    agents: object
    workflow: { edges: { from: string }[] }
  }
  expect([...page.stateKeys.keys()].toSorted()).toEqual(Object.keys(project.agents).toSorted())
  const labelled = project.workflow.edges.filter(({ from }) => page.stateKeys.has(from))
  expect(labelled).toHaveLength(5)
})
