import type { RunEvent } from '@millrace/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adkAgent } from '../../packages/server/src/agent/adk/adk-agent.ts'
import { rootAgent } from '../kit/adk-web-agents/clerk/agent.ts'
import { scriptedAgent } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

// What adk-web needs of the answers, and cannot show otherwise; test/browser/adk-web.test.ts shows it in the page itself.

const clerk = adkAgent('clerk', async () => rootAgent)
const said = (run: string, author: string, text: string, fields: object = {}): RunEvent => ({
  kind: 'agent',
  message: text,
  node: 'keeper@1',
  event: {
    id: `${run}-${text}`,
    author,
    invocationId: run,
    timestamp: 0,
    content: { role: 'model', parts: [{ text }] },
    ...fields,
  },
})
const note = (name: string, version: number): RunEvent => ({
  kind: 'artifact',
  id: name,
  name,
  type: 'note',
  version,
  part: { text: name },
  node: 'keeper@1',
})
/** Saves artifacts that no event announces, and changes state in an event of its own. */
const keeper = scriptedAgent('keeper', function* (_, { run, history }) {
  const version = history.filter(({ event }) => event.kind === 'run.started').length
  yield { kind: 'node.started', node: 'keeper@1', agent: 'keeper' }
  yield { kind: 'state', patch: [{ op: 'add', path: '/kept', value: version }], node: 'keeper@1' }
  yield note('first', version)
  yield said(run, 'keeper', 'ke', { partial: true })
  yield said(run, 'keeper', 'kept')
  yield note('last', version)
  yield { kind: 'node.finished', node: 'keeper@1', status: 'ok' }
})
/** Speaks, and lets a specialist speak inside a function call. */
const asker = scriptedAgent('asker', function* (_, { run }) {
  yield said(run, 'helper', 'inside', { branch: 'helper@call', isolationScope: 'call' })
  yield said(run, 'asker', 'outside')
})

interface Event {
  readonly id: string
  readonly author: string
  readonly invocationId?: string
  readonly partial?: boolean
  readonly content?: { readonly parts: readonly { readonly text?: string }[] }
  readonly actions?: { readonly artifactDelta?: Record<string, number>; readonly stateDelta?: object }
  readonly error?: string
}
interface Span {
  readonly name: string
  readonly span_id: string
  readonly parent_span_id: string | null
  readonly attributes: Record<string, string>
}

let server: Awaited<ReturnType<typeof testServer>>
let address: string
beforeAll(async () => {
  server = await testServer({ with: [clerk, keeper, asker] })
  address = await server.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => server.close(0))

const ask = async (method: string, path: string, body?: unknown, accept = 'application/json') =>
  fetch(`${address}${path}`, {
    method,
    headers: { accept, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const json = async (method: string, path: string, body?: unknown) => (await ask(method, path, body)).json()
const newSession = async (app: string, body: unknown = {}): Promise<string> =>
  ((await json('POST', `/apps/${app}/users/user/sessions`, body)) as { id: string }).id
const say = (app: string, sessionId: string, text: string, streaming = false) =>
  ask(
    'POST',
    '/run_sse',
    { appName: app, userId: 'user', sessionId, newMessage: { role: 'user', parts: [{ text }] }, streaming },
    'text/event-stream',
  )
const framesOf = async (answer: Response): Promise<readonly Event[]> =>
  (await answer.text()).split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))
const reload = async (app: string, id: string): Promise<readonly Event[]> =>
  ((await json('GET', `/apps/${app}/users/user/sessions/${id}`)) as { events: readonly Event[] }).events
const spansOf = async (app: string, id: string) =>
  (await json('GET', `/dev/apps/${app}/debug/trace/session/${id}`)) as readonly Span[]
const announced = (events: readonly Event[]) =>
  events.flatMap(({ actions }) => Object.keys(actions?.artifactDelta ?? {}))
const invocation = 'gcp.vertex.agent.invocation_id'

describe('adk-web', () => {
  test.each([
    ['clerk', 'please look'],
    ['keeper', 'keep'],
  ])('%s: one invocation id is on live events, reloaded events, the message and the spans', async (app, text) => {
    const id = await newSession(app)
    const live = await framesOf(await say(app, id, text, true))
    const events = await reload(app, id)
    const [first] = events
    expect(first).toMatchObject({ author: 'user', content: { parts: [{ text }] } })
    const spans = await spansOf(app, id)
    expect(live.length).toBeGreaterThan(3)
    expect(spans.length).toBeGreaterThan(1)
    const ids = [...live, ...events].map(({ invocationId }) => invocationId)
    expect(new Set([...ids, ...spans.map(({ attributes }) => attributes[invocation])])).toEqual(
      new Set([first?.invocationId]),
    )
  })

  test('an imported session keeps its invocation ids, also on what had none', async () => {
    const events = ['one', 'two'].flatMap((of, i) => [
      { id: `u${i}`, author: 'user', invocationId: of, timestamp: i, content: { role: 'user', parts: [{ text: of }] } },
      {
        id: `a${i}`,
        author: 'clerk',
        invocationId: of,
        timestamp: i,
        content: { role: 'model', parts: [{ text: of }] },
      },
    ])
    const id = await newSession('clerk', { events })
    expect((await reload('clerk', id)).map(({ invocationId }) => invocationId)).toEqual(['one', 'one', 'two', 'two'])
    const spans = await spansOf('clerk', id)
    expect(spans.map(({ name, attributes }) => [name, attributes[invocation]])).toEqual([
      ['call_llm', 'one'],
      ['invocation', 'one'],
      ['call_llm', 'two'],
      ['invocation', 'two'],
    ])
  })

  test('a span of a model call has the request and the response', async () => {
    const id = await newSession('clerk')
    await framesOf(await say('clerk', id, 'please look'))
    const spans = await spansOf('clerk', id)
    const known = new Set(spans.map(({ span_id }) => span_id))
    for (const { parent_span_id } of spans) expect(parent_span_id === null || known.has(parent_span_id)).toBe(true)
    const calls = spans.filter(({ name }) => name === 'call_llm').map(({ attributes }) => attributes)
    expect(calls).toHaveLength(2)
    const read = (key: string) => calls.map((attributes) => JSON.parse(attributes[`gcp.vertex.agent.${key}`] ?? 'null'))
    expect(read('llm_request')).toMatchObject([
      {
        model: 'scripted',
        contents: [{ role: 'user', parts: [{ text: 'please look' }] }],
        config: {
          systemInstruction: expect.stringContaining('You look at things for people.'),
          tools: [{ functionDeclarations: expect.arrayContaining([expect.objectContaining({ name: 'look' })]) }],
        },
      },
      { contents: [{}, {}, { parts: [{ functionResponse: { name: 'look', response: { seen: 'shelf' } } }] }] },
    ])
    expect(read('llm_response')).toMatchObject([
      { content: { parts: [{ functionCall: { name: 'look' } }] }, usageMetadata: { promptTokenCount: 7 } },
      { content: { parts: [{ text: 'The shelf is full.' }] } },
    ])
    expect(spans.find(({ name }) => name === 'execute_tool look')?.attributes).toMatchObject({
      'gcp.vertex.agent.tool_call_args': '{"what":"shelf"}',
      'gcp.vertex.agent.tool_response': '{"seen":"shelf"}',
    })
  })

  test('the name that it gives a new session is listed, and is no state of the agent', async () => {
    const state = { a: 1, __session_metadata__: { displayName: 'About shelves', colour: 'red' } }
    const id = await newSession('clerk', { state })
    const name = { __session_metadata__: { displayName: 'About shelves', colour: 'red' } }
    expect(await json('GET', `/apps/clerk/users/user/sessions/${id}`)).toMatchObject({ state: { a: 1, ...name } })
    const listed = (await json('GET', '/apps/clerk/users/user/sessions')) as { id: string; state: object }[]
    expect(listed.find((one) => one.id === id)?.state).toEqual({
      __session_metadata__: { displayName: 'About shelves' },
    })
    await json('PATCH', `/apps/clerk/users/user/sessions/${id}`, {
      stateDelta: { __session_metadata__: { displayName: 'Renamed' } },
    })
    const again = (await json('GET', '/apps/clerk/users/user/sessions')) as { id: string; state: object }[]
    expect(again.find((one) => one.id === id)?.state).toEqual({ __session_metadata__: { displayName: 'Renamed' } })
    expect(await json('GET', `/sessions/${id}`)).toMatchObject({ title: 'Renamed' })
    expect(await json('GET', `/sessions/${id}/state`)).toMatchObject({
      state: { a: 1, __session_metadata__: { colour: 'red' } },
    })
  })

  test.each([
    ['no such session', 404, { appName: 'clerk', sessionId: 'none' }],
    ['no such agent', 404, { appName: 'none', sessionId: 'none' }],
    ['a bad body', 422, { appName: 'clerk' }],
  ])('a refusal (%s) is a frame for a client that reads frames, and JSON for others', async (_, status, fields) => {
    const body = { userId: 'user', newMessage: { role: 'user', parts: [{ text: 'hi' }] }, ...fields }
    const framed = await ask('POST', '/run_sse', body, 'text/event-stream')
    expect([framed.status, framed.headers.get('content-type')]).toEqual([status, 'text/event-stream'])
    const frames = await framesOf(framed)
    const plain = await ask('POST', '/run_sse', body)
    expect([plain.status, frames.length]).toEqual([status, 1])
    expect(await plain.json()).toEqual(frames[0])
    expect(frames[0]?.error).toEqual(expect.stringMatching(/./))
  })

  test.each([
    ['clerk', 'please look', ['note.txt']],
    ['keeper', 'keep', ['first', 'last']],
  ])('%s: each artifact is announced once, live and after a reload', async (app, text, names) => {
    const id = await newSession(app)
    expect(announced(await framesOf(await say(app, id, text, true)))).toEqual(names)
    expect(announced(await framesOf(await say(app, id, text, false)))).toEqual(names)
    expect(announced(await reload(app, id))).toEqual([...names, ...names])
  })

  test.each([
    ['clerk', 'please look'],
    ['clerk', 'hand over'],
    ['keeper', 'keep'],
    ['asker', 'ask'],
  ])('%s: without streaming, "%s" shows live what a reload shows', async (app, text) => {
    const id = await newSession(app)
    const live = await framesOf(await say(app, id, text))
    expect(live.length).toBeGreaterThan(0)
    expect(live.some(({ partial }) => partial === true)).toBe(false)
    expect((await reload(app, id)).slice(1)).toEqual(live)
  })

  test('the graph has a name and a sign for each node, and is high instead of wide when many nodes are side by side', async () => {
    const { dotSrc } = (await json('GET', '/dev/apps/clerk/build_graph_image?dark_mode=true')) as { dotSrc: string }
    expect(dotSrc).toContain('rankdir=TB')
    for (const name of ['clerk', 'expert', 'look'])
      expect(dotSrc).toMatch(new RegExp(`"${name}" \\[label=<<FONT[^>]*>.</FONT> ${name}>`))
    expect(dotSrc).toMatch(/"clerk" -> "expert" \[tooltip="transfer"\]/)
  })
})
