import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scriptedAgent, speech, textOf } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

const echo = scriptedAgent('echo', function* (input) {
  yield { kind: 'node.started', node: 'echo@1', agent: 'echo' }
  yield { kind: 'state', patch: [{ op: 'add', path: '/heard', value: textOf(input) }], node: 'echo@1' }
  yield* speech('echo', `You said ${textOf(input)}`)
  yield { kind: 'node.finished', node: 'echo@1', status: 'ok' }
})
const planner = scriptedAgent('planner', function* (input) {
  if (input.props?.mode === 'execute') {
    yield { kind: 'task.started', task: 't1' }
    yield { kind: 'artifact', id: 'a1', name: 'Notes', type: 'note', version: 1, part: { text: '# Notes' }, task: 't1' }
    yield { kind: 'data', id: 'd1', operation: 'create', itemType: 'contact', item: { name: 'Ada' }, task: 't1' }
    yield { kind: 'task.finished', task: 't1', status: 'done', result: 'written' }
    return
  }
  yield* speech('chat', 'Here is a plan.')
  yield { kind: 'tasks', tasks: [{ id: 't1', title: 'Write notes', status: 'pending', order: 0 }] }
})

describe('five surfaces on one port', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  beforeAll(async () => {
    server = await testServer({ with: [echo, planner], fallback: 'echo' })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(() => server.close(0))
  const call = async (method: string, path: string, body?: unknown) => {
    const sent =
      body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const answer = await fetch(`${address}${path}`, { method, ...sent })
    const text = await answer.text()
    return {
      status: answer.status,
      type: answer.headers.get('content-type') ?? '',
      text,
      json:
        /json/.test(answer.headers.get('content-type') ?? '') &&
        !/ndjson/.test(answer.headers.get('content-type') ?? '')
          ? JSON.parse(text)
          : undefined,
    }
  }

  test('Studio: a GET runs a project and streams its traces', async () => {
    const { text, type } = await call('GET', '/api/projects/echo/stream?input=hello&session_id=studio-1')
    expect(type).toBe('text/event-stream')
    const events = [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)
    expect(events[0]).toBe('session')
    expect(events).toEqual(expect.arrayContaining(['trace', 'chunk', 'end']))
    expect(text).toContain('"heard":"hello"')
    expect((await call('GET', '/api/projects')).json).toMatchObject([{ id: 'echo' }, { id: 'planner' }])
    expect((await call('GET', '/api/projects/echo/stream')).status).toBe(422)
    expect((await call('POST', '/api/sessions/studio-1/resume', { response: true })).status).toBe(404)
    // Stop and New of ADK Studio's page send this: the conversation stays.
    expect((await call('DELETE', '/api/sessions/studio-1')).status).toBe(204)
    expect((await call('GET', '/sessions/studio-1')).status).toBe(200)
  })

  test.each([
    ['an emoji where the title is cut', `${'a'.repeat(79)}😀 b`, 'a'.repeat(79)],
    ['half an emoji', 'a\ud83d b', 'a b'],
    ['U+0000', 'a\0b', 'ab'],
  ])('the first message of a session has %s: every surface takes it', async (what, text, title) => {
    const id = (surface: string): string => `${surface} ${what}`
    const messages = [{ id: '1', role: 'user', content: text }]
    const content = { role: 'user', parts: [{ text }] }
    const answers = [
      await call('POST', '/ag-ui/echo', { threadId: id('ag-ui'), runId: 'r', messages }),
      await call('POST', '/api/projects/echo/stream', { input: text, session_id: id('studio') }),
      await call('POST', `/sessions/${encodeURIComponent(id('session'))}/runs`, {
        input: { messages: [{ id: '1', role: 'user', content }] },
      }),
      await call('POST', '/sessions', { id: id('plan'), agent: 'planner' }),
      await call('POST', `/sessions/${encodeURIComponent(id('plan'))}/chat`, { message: text }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 201, 200])
    for (const surface of ['ag-ui', 'studio', 'session', 'plan'])
      expect((await call('GET', `/sessions/${encodeURIComponent(id(surface))}`)).json.title).toBe(title)
  })

  test('Plan: chat makes tasks, a person edits them, execution carries them out', async () => {
    const { json: session } = await call('POST', '/sessions', { title: 'My plan' })
    const at = `/sessions/${session.id}`
    expect((await call('POST', `${at}/execute`)).status).toBe(409)
    const chat = await call('POST', `${at}/chat`, { message: 'plan it' })
    expect(chat.text).toContain('event: tasks_updated')
    expect(chat.text).toMatch(/event: done\nid: \d+\ndata: \{"type":"done"\}/)
    const { json: added } = await call('POST', `${at}/tasks`, { title: 'Second' })
    expect(added).toMatchObject({ title: 'Second', status: 'pending', order: 1, sessionId: session.id })
    expect(
      (await call('PUT', `${at}/tasks`, { taskIds: [added.id, 't1'] })).json.map(({ id }: { id: string }) => id),
    ).toEqual([added.id, 't1'])
    expect((await call('PUT', `${at}/tasks`, { taskIds: ['t1'] })).status).toBe(422)
    expect((await call('PATCH', `${at}/tasks/t1`, { title: 'Write good notes', order: 0 })).json).toMatchObject({
      title: 'Write good notes',
      order: 0,
    })
    expect((await call('PATCH', `${at}/tasks/t1`, { title: '' })).json.errors[0].path).toBe('title')
    expect((await call('DELETE', `${at}/tasks/${added.id}`)).status).toBe(204)
    const executed = await call('POST', `${at}/execute`)
    expect(executed.text).toContain('event: artifact_created')
    expect(executed.text).toContain('"summary":{"total":1,"completed":1,"failed":0}')
    expect((await call('GET', at)).json).toMatchObject({
      status: 'completed',
      tasks: [{ id: 't1', status: 'done', result: 'written' }],
      artifacts: [{ name: 'Notes' }],
    })
    expect((await call('GET', `${at}/artifacts/a1`)).json).toMatchObject({ content: '# Notes' })
    expect((await call('GET', `${at}/artifacts/a1/download`)).text).toBe('# Notes')
    expect((await call('GET', `${at}/data-items?item_type=contact`)).json).toMatchObject([{ data: { name: 'Ada' } }])
    expect((await call('GET', `${at}/data-items?item_type=other`)).json).toEqual([])
    const { json: retried } = await call('POST', `${at}/tasks/t1/retry`)
    expect(retried).toMatchObject({ status: 'pending' })
    expect(retried).not.toHaveProperty('result')
    expect((await call('DELETE', `${at}/artifacts/a1`)).status).toBe(204)
    expect((await call('GET', `${at}/artifacts`)).json).toEqual([])
  })

  test('concurrent edits of a plan lose nothing', async () => {
    const { json: session } = await call('POST', '/sessions', {})
    await Promise.all(
      Array.from({ length: 12 }, (_, i) => call('POST', `/sessions/${session.id}/tasks`, { title: `Task ${i}` })),
    )
    const { json: tasks } = await call('GET', `/sessions/${session.id}/tasks`)
    expect(tasks.map(({ order }: { order: number }) => order)).toEqual(Array.from({ length: 12 }, (_, i) => i))
  })

  test('an edit of a long plan records what changes, and not the list', async () => {
    const { json: session } = await call('POST', '/sessions', {})
    const at = `/sessions/${session.id}`
    const ids: string[] = []
    for (let i = 0; i < 40; i++) ids.push((await call('POST', `${at}/tasks`, { title: `Task ${i}` })).json.id)
    const turned = [ids.at(-1), ...ids.slice(0, -1)]
    await call('PUT', `${at}/tasks`, { taskIds: turned })
    await call('PATCH', `${at}/tasks/${ids[3]}`, { title: 'Third', order: 0 })
    const { text } = await call('GET', `${at}/log`)
    const [, ...rows] = text.trim().split('\n')
    expect(rows).toHaveLength(42)
    for (const row of rows) expect(row.length).toBeLessThan(300)
    const { json: tasks } = await call('GET', `${at}/tasks`)
    expect(tasks.map(({ id }: { id: string }) => id)).toEqual([ids[3], ...turned.filter((id) => id !== ids[3])])
  })

  test('ADK: sessions, run and run_sse, and a session begun there is anybody’s', async () => {
    const base = '/apps/echo/users/ada/sessions'
    expect((await call('POST', `${base}/adk-1`, { state: { mood: 'calm' } })).json).toMatchObject({
      id: 'adk-1',
      state: { mood: 'calm' },
      events: [],
    })
    expect((await call('POST', `${base}/adk-1`)).status).toBe(409)
    const message = {
      appName: 'echo',
      userId: 'ada',
      sessionId: 'adk-1',
      newMessage: { role: 'user', parts: [{ text: 'hi' }] },
    }
    const streamed = await call('POST', '/run_sse', { ...message, streaming: true })
    expect(streamed.text).toContain('"partial":true')
    const whole = await call('POST', '/run_sse', message)
    expect(whole.text).not.toContain('"partial":true')
    expect((await call('POST', '/run', message)).json.at(-1).content.parts[0].text).toBe('You said hi')
    expect((await call('POST', '/run', { ...message, newMessage: undefined })).json.errors[0].path).toBe('newMessage')
    expect((await call('POST', '/run', { ...message, sessionId: 'nope' })).json).toMatchObject({
      status: 404,
      error: 'Session not found: nope',
    })
    const { json: session } = await call('GET', `${base}/adk-1`)
    expect(session.state).toEqual({ mood: 'calm', heard: 'hi' })
    expect(session.events.filter(({ author }: { author: string }) => author === 'user')).toHaveLength(3)
    expect(
      (
        await call('PATCH', `${base}/adk-1`, {
          stateDelta: { mood: 'happy', __session_metadata__: { displayName: 'Chat' } },
        })
      ).json,
    ).toMatchObject({
      state: { mood: 'happy', __session_metadata__: { displayName: 'Chat' } },
    })
    expect((await call('GET', base)).json).toHaveLength(1)
    expect((await call('GET', '/apps/echo/users/bob/sessions/adk-1')).status).toBe(404)
    expect((await call('DELETE', `${base}/adk-1`)).text).toBe('null')
  })

  test('any session: state at any moment, views, export, import, fork', async () => {
    expect(
      (
        await call('POST', '/sessions/any-1/runs', {
          agent: 'echo',
          input: { messages: [{ id: 'u1', role: 'user', content: { parts: [{ text: 'one' }] } }] },
        })
      ).status,
    ).toBe(201)
    await server.engine.wait('any-1', (await server.log.get('any-1'))?.lastRun ?? '')
    const end = (await server.log.get('any-1'))?.lastSeq ?? 0
    expect((await call('GET', '/sessions/any-1/state')).json).toEqual({ seq: end, state: { heard: 'one' } })
    expect((await call('GET', '/sessions/any-1/state?at=1')).json).toEqual({ seq: 1, state: {} })
    expect((await call('GET', '/sessions/any-1/views/transcript')).text).toContain('You said one')
    expect((await call('GET', '/sessions/any-1/views/nope')).status).toBe(404)
    const exported = await call('GET', '/sessions/any-1/log')
    const sent = { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body: exported.text }
    expect((await fetch(`${address}/sessions/import?id=any-2`, sent)).status).toBe(201)
    expect((await call('GET', '/sessions/any-2/log')).text.split('\n').slice(1)).toEqual(
      exported.text.split('\n').slice(1),
    )
    const broken = await fetch(`${address}/sessions/import`, {
      ...sent,
      body: exported.text.replace('"kind"', '"kond"'),
    })
    expect(broken.status).toBe(422)
    expect(await broken.text()).toMatch(/line 2/)
    expect((await call('POST', '/sessions/any-1/fork', { at: 3, id: 'any-3' })).json).toMatchObject({
      id: 'any-3',
      forkOf: { session: 'any-1', seq: 3 },
    })
  })

  test.each([
    ['Last-Event-ID', { 'last-event-id': 'abc' }, ''],
    ['a negative cursor', {}, '&after=-1'],
    ['a huge cursor', { 'last-event-id': '9'.repeat(40) }, ''],
  ])('%s that is no seq is a 400', async (_name, headers, query) => {
    await server.log.create({ id: `cursor-${_name}`, user: 'user', agent: 'echo' })
    const answer = await fetch(
      `${address}/sessions/${encodeURIComponent(`cursor-${_name}`)}/events?dialect=adk${query}`,
      { headers },
    )
    expect(answer.status).toBe(400)
    expect(answer.headers.get('content-type')).toContain('application/problem+json')
  })

  test('the OpenAPI document names every route', async () => {
    const { json } = await call('GET', '/openapi.json')
    expect(Object.keys(json.paths)).toEqual(
      expect.arrayContaining(['/run_sse', '/sessions/{id}/events', '/api/projects/{id}/stream', '/sessions/{id}/chat']),
    )
    expect((await call('GET', '/docs')).text).toContain('re-join')
  })
})
