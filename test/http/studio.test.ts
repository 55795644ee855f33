import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type RunEvent, type RunInput, sseReader } from '@millrace/core'
import { sessionKey } from '@millrace/core/store'
import { discoverAgents, sqliteLog } from '@millrace/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { PageReader, readAsPage } from '../kit/studio-page.ts'
import { testDatabase } from '../kit/test-database.ts'

/** Asks twice, and says what it was answered. */
const asker = scriptedAgent('asker', function* (input: RunInput): Generator<RunEvent> {
  const answered = input.resume?.[0]
  const node = 'team/asker@1'
  yield { kind: 'node.started', node, agent: 'asker' }
  if (answered === undefined || answered.interrupt === 'first') {
    const id = answered === undefined ? 'first' : 'second'
    yield { kind: 'interrupt', id, reason: 'confirmation', message: `${id}?`, node }
    yield { kind: 'node.finished', node, status: 'interrupted' }
    yield { kind: 'run.finished', outcome: 'interrupted' }
    return
  }
  yield* speech('asker', `Answered ${JSON.stringify(answered.payload)}.`)
  yield { kind: 'node.finished', node, status: 'ok' }
})
const talker = scriptedAgent('talker', () => speech('talker', 'one two three'))

const folder = mkdtempSync(join(tmpdir(), 'millrace-studio-'))
let server: Awaited<ReturnType<typeof testServer>>
let address: string
beforeAll(async () => {
  const examples = discoverAgents(fileURLToPath(new URL('../../agents/', import.meta.url)), {
    models: { tokensPerSecond: 0 },
  })
  const agents = new Map([...examples.agents, ['asker', asker], ['talker', talker]])
  const tokens = new Map([
    ['adas-token', 'ada'],
    ['bobs-token', 'bob'],
  ])
  // A store that keeps its rows as text, as the one that ships does.
  const log = testDatabase() === undefined ? await sqliteLog({ folder, now: Date.now }) : undefined
  server = await testServer({
    agents: { agents },
    access: { tokens },
    // Without it, what agents are told is not shown to users with tokens.
    recordPrompts: () => true,
    limits: { shares: { starts: { user: 1000 } } },
    ...(log === undefined ? {} : { log }),
  })
  address = await server.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await server.close(0)
  await server.log.close()
  rmSync(folder, { recursive: true, force: true })
})

const call = (method: string, path: string, body?: unknown, more: Record<string, string> = {}): Promise<Response> =>
  fetch(`${address}${path}`, {
    method,
    headers: {
      authorization: 'Bearer adas-token',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const runs = async (session: string): Promise<number> => (await server.log.get(sessionKey('ada', session)))?.runs ?? 0

interface Detail {
  readonly agents: Record<string, { tools: string[]; sub_agents: string[]; position: object; instruction: string }>
  readonly actionNodes: Record<string, { type: string; triggerType: string; manual: { defaultPrompt: string } }>
  readonly workflow: { readonly edges: readonly { readonly from: string; readonly to: string }[] }
  readonly settings: object
  readonly tool_configs: object
}
const detail = async (id: string): Promise<Detail> =>
  (await (await call('GET', `/api/projects/${id}`)).json()) as Detail

describe('a project', () => {
  test.each(['assistant', 'planner', 'recovery', 'research'])('%s can be drawn and run by the page', async (id) => {
    const { agents, actionNodes, workflow, settings, tool_configs } = await detail(id)
    const names = new Set([...Object.keys(agents), ...Object.keys(actionNodes), 'START', 'END'])
    for (const { from, to } of workflow.edges)
      expect([names.has(from), names.has(to)], `${from} ${to}`).toEqual([true, true])
    expect(settings).toMatchObject({ env_vars: {} })
    expect(tool_configs).toEqual({})
    // Its Run button needs a trigger, an agent and an edge to END; every node can be reached from the trigger.
    expect(Object.values(actionNodes)).toMatchObject([{ type: 'trigger', triggerType: 'manual' }])
    expect(workflow.edges.some(({ to }) => to === 'END')).toBe(true)
    const reached = new Set(Object.keys(actionNodes))
    for (let grew = true; grew; ) {
      const found = workflow.edges.filter(({ from, to }) => reached.has(from) && !reached.has(to))
      for (const { to } of found) reached.add(to)
      grew = found.length > 0
    }
    expect([...reached].toSorted()).toEqual([...names].toSorted())
    // The page looks for the longest way from START to every node, and hangs where a way leads back.
    let left = workflow.edges
    for (let fewer = true; fewer; ) {
      const next = left.filter(({ from }) => left.some(({ to }) => to === from))
      fewer = next.length < left.length
      left = next
    }
    expect(left, 'edges in a circle').toEqual([])
  })

  test.each(['assistant', 'planner', 'recovery', 'research'])(
    'the nodes of %s have their names on the trace',
    async (id) => {
      const { agents, actionNodes } = await detail(id)
      const { manual } = Object.values(actionNodes)[0] ?? {}
      const input = encodeURIComponent(manual?.defaultPrompt ?? '')
      const page = await readAsPage(await call('GET', `/api/projects/${id}/stream?input=${input}`), new PageReader())
      expect(page.closed).toBe('end')
      expect(page.stateKeys.size).toBeGreaterThan(0)
      for (const node of page.stateKeys.keys()) expect(Object.keys(agents)).toContain(node)
    },
  )

  test('shows what its author wrote: instruction, tools, model', async () => {
    const { agents } = await detail('recovery')
    expect(agents.coordinator?.instruction).toContain('briefing')
    expect(agents.burn_analyst).toMatchObject({
      tools: ['assess_severity'],
      model: 'offline',
      position: { x: 0, y: 0 },
    })
  })

  test('can be saved as it is, and not be changed', async () => {
    const project = await detail('recovery')
    expect((await call('PUT', '/api/projects/recovery', { ...project, settings: { layoutMode: 'free' } })).status).toBe(
      200,
    )
    const changed = {
      ...project,
      agents: { ...project.agents, coordinator: { ...project.agents.coordinator, instruction: 'x' } },
    }
    const refused = await call('PUT', '/api/projects/recovery', changed)
    expect(refused.status).toBe(409)
    // The page shows `error` to the person.
    expect(await refused.json()).toMatchObject({ error: expect.stringContaining('folder of the agent') })
    expect(await detail('recovery')).toMatchObject({ agents: project.agents })
  })

  test.each([
    ['POST', '/api/projects', { name: 'New', description: '' }],
    ['DELETE', '/api/projects/recovery', undefined],
    ['POST', '/api/projects/recovery/keys', { keys: { OPENAI_API_KEY: 'secret' } }],
    ['DELETE', '/api/projects/recovery/keys/OPENAI_API_KEY', undefined],
  ])('%s %s is refused, and says what to do', async (method, path, body) => {
    const answer = await call(method, path, body)
    expect(answer.status).toBe(405)
    expect(((await answer.json()) as { error: string }).error).toMatch(/folder|environment/)
  })

  test('has no keys to show and nothing to build', async () => {
    for (const path of ['/api/projects/recovery/keys', '/api/settings/detected-keys'])
      expect(await (await call('GET', path)).json()).toEqual({ keys: [] })
    expect(await (await call('POST', '/api/projects/recovery/build')).json()).toMatchObject({ success: true })
    expect((await call('GET', '/api/projects/none/build-stream')).status).toBe(404)
    expect((await call('GET', '/api/projects/none/webhook-events')).status).toBe(404)
  })
})

describe('a question', () => {
  const words = ['yes', 'Approve', 'true', '{"approved":true}', true, { approved: true }]
  test.each(words)(
    'SPEC 4.5: the answer %j on the same stream, which stays open until the run is done',
    async (answer) => {
      const stream = await call('GET', '/api/projects/asker/stream?input=hi')
      const page = new PageReader()
      const open = await readUntil(stream, page, () => page.interrupt?.message === 'first?')
      const answered = await call('POST', `/api/sessions/${page.session}/resume`, { response: answer })
      expect(await answered.json()).toMatchObject({ success: true, node_id: page.interrupt?.nodeId })
      await open.read(() => page.interrupt?.message === 'second?')
      expect(page.closed).toBe(undefined)
      await call('POST', `/api/sessions/${page.session}/resume`, { response: answer })
      await open.read(() => page.closed !== undefined)
      const meant = typeof answer === 'object' || `${answer}`.startsWith('{') ? '{"approved":true}' : 'true'
      expect(page.messages).toEqual([`Answered ${meant}.`])
      expect(await runs(page.session)).toBe(3)
    },
  )

  test('SPEC 2.4, 2.5: a reader that is cut before, between and after the answers joins again by its last id', async () => {
    const path = '/api/projects/asker/stream?input=hi'
    const page = new PageReader()
    const ids: string[] = []
    /** Each time on a connection of its own, as an EventSource comes back: with nothing but its URL and the last id. */
    const join = async (enough: () => boolean): Promise<void> => {
      const last = ids.at(-1)
      const answer = await call('GET', path, undefined, last === undefined ? {} : { 'last-event-id': last })
      expect(answer.status).toBe(200)
      await (await readUntil(answer, page, enough, ids)).leave()
    }
    await join(() => page.interrupt?.message === 'first?')
    await call('POST', `/api/sessions/${page.session}/resume`, { response: 'yes' })
    await join(() => page.interrupt?.message === 'second?')
    await call('POST', `/api/sessions/${page.session}/resume`, { response: 'no' })
    await join(() => page.closed !== undefined)
    expect(page.messages).toEqual(['Answered false.'])
    expect(new Set(ids.map((id) => id.slice(0, id.lastIndexOf(':'))))).toEqual(new Set([page.session]))
    expect((await call('GET', path, undefined, { 'last-event-id': ids.at(-1) ?? '' })).status).toBe(204)
    expect(await runs(page.session)).toBe(3)
  })

  test('a page that is told that a run goes on starts nothing', async () => {
    const path = '/api/projects/asker/stream?input=__webhook__&binary_path=b'
    expect((await call('GET', path)).status).toBe(204)
    expect((await call('GET', `${path}&session_id=unknown`)).status).toBe(204)
    expect(await server.log.get(sessionKey('ada', 'unknown'))).toBe(undefined)
  })

  test('SPEC 6.2: only the pages of its user are told that a run goes on', async () => {
    const listen = (token: string) =>
      call('GET', '/api/projects/asker/webhook-events', undefined, { authorization: `Bearer ${token}` })
    const [ada, bob] = await Promise.all([listen('adas-token'), listen('bobs-token')])
    const page = await readAsPage(
      await call('GET', '/api/projects/asker/stream?input=hi&binary_path=b'),
      new PageReader(),
    )
    expect(page).toMatchObject({ closed: 'end', interrupt: { nodeId: 'asker', message: 'first?' } })
    await call('POST', `/api/sessions/${page.session}/resume`, { response: 'yes' })
    const reader = ada.body?.getReader()
    let heard = ''
    while (!heard.includes('event: webhook')) heard += new TextDecoder().decode((await reader?.read())?.value)
    expect(heard).toContain(page.session)
    await reader?.cancel()
    const other = bob.body?.getReader()
    expect(new TextDecoder().decode((await other?.read())?.value)).not.toContain('webhook')
    await other?.cancel()
  })
})

test('chunks are the text so far, or pieces for clients that append', async () => {
  const chunks = async (method: string, query: string): Promise<readonly string[]> => {
    const body = method === 'POST' ? { input: 'hi' } : undefined
    const text = await (await call(method, `/api/projects/talker/stream?${query}`, body)).text()
    return [...text.matchAll(/^event: chunk\n(?:id: .*\n)?data: (.*)$/gm)].map(([, data]) => data ?? '')
  }
  const [whole, pieces] = [
    ['one ', 'one two ', 'one two three'],
    ['one ', 'two ', 'three'],
  ]
  expect(await chunks('GET', 'input=hi')).toEqual(whole)
  expect(await chunks('POST', '')).toEqual(whole)
  expect(await chunks('GET', 'input=hi&chunks=delta')).toEqual(pieces)
  expect(await chunks('POST', 'chunks=delta')).toEqual(pieces)
  expect((await call('GET', '/api/projects/talker/stream?input=hi&chunks=other')).status).toBe(422)
})

/** Reads until `enough`; the result reads on until its own condition holds. */
async function readUntil(answer: Response, page: PageReader, enough: () => boolean, ids: string[] = []) {
  const [frames, text, body] = [sseReader(), new TextDecoder(), answer.body?.getReader()]
  const read = async (until: () => boolean): Promise<void> => {
    while (!until()) {
      const part = await body?.read()
      if (part === undefined || part.done) return
      for (const frame of frames.feed(text.decode(part.value, { stream: true }))) {
        page.take(frame)
        if (frame.id !== undefined) ids.push(frame.id)
      }
    }
    if (page.closed !== undefined) await body?.cancel()
  }
  await read(enough)
  return { read, leave: async () => void (await body?.cancel()) }
}
