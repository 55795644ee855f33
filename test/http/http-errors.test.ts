import { connect } from 'node:net'
import { MillraceError, memoryLog } from '@millrace/core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { aborted } from '../kit/waiting.ts'

/** Every refusal before a stream starts: the right status, RFC 9457, in the type the surface's clients read (SPEC 6.1). */
const echo = scriptedAgent('echo', () => speech('echo', 'Hello'))
const patient = scriptedAgent('patient', async function* (_, { signal }) {
  yield { kind: 'log', level: 'info', message: 'waiting' }
  await aborted(signal)
})
const body = {
  threadId: 't',
  runId: 'r',
  messages: [{ id: '1', role: 'user', content: 'hi' }],
}
const adkBody = { appName: 'echo', userId: 'user', sessionId: 's', newMessage: { parts: [{ text: 'hi' }] } }

describe('SPEC 6.1: refusals', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  beforeAll(async () => {
    server = await testServer({
      with: [echo, patient],
      fallback: 'echo',
      limits: { body: 10_000, state: 500, messages: 3, tools: 2 },
    })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    await server.log.create({ id: 's', user: 'user', agent: 'echo' })
  })
  afterAll(() => server.close(0))

  const send = async (method: string, path: string, given?: unknown, headers: Record<string, string> = {}) => {
    const sent = given === undefined ? undefined : typeof given === 'string' ? given : JSON.stringify(given)
    const answer = await fetch(`${address}${path}`, {
      method,
      headers: { ...(sent === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(sent === undefined ? {} : { body: sent }),
    })
    const text = await answer.text()
    const json = /^application\/(problem\+)?json/.test(answer.headers.get('content-type') ?? '')
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      problem: json && text !== '' ? JSON.parse(text) : undefined,
    }
  }
  const isProblem = (answer: Awaited<ReturnType<typeof send>>, status: number, code: string) => {
    expect(answer).toMatchObject({
      status,
      problem: { type: `urn:millrace:problem:${code}`, status, code, title: code.replaceAll('-', ' ') },
    })
    expect(answer.problem.detail).toBe(answer.problem.error)
    expect(answer.text).not.toMatch(/node_modules|\.ts:\d+|<html/i)
  }

  test.each(
    [
      ['POST', '/', '{"threadId":', 400, 'invalid'],
      ['POST', '/sessions/s/chat', '{', 400, 'invalid'],
      ['GET', '/%', undefined, 400, 'invalid'],
      ['GET', '/sessions/s/events?after=x', undefined, 400, 'invalid'],
      ['GET', '/nowhere', undefined, 404, 'not-found'],
      ['GET', '/sessions/none', undefined, 404, 'not-found'],
      ['POST', '/ag-ui/none', body, 404, 'not-found'],
      ['POST', '/run', { ...adkBody, sessionId: 'none' }, 404, 'not-found'],
      ['POST', '/sessions', { id: 's' }, 409, 'conflict'],
      ['POST', '/sessions/s/execute', undefined, 409, 'conflict'],
      ['POST', '/run', { ...adkBody, pad: 'x'.repeat(20_000) }, 413, 'too-large'],
      ['GET', `/sessions/${'x'.repeat(600)}`, undefined, 414, 'url-too-long'],
      ['POST', '/', { ...body, messages: 7 }, 422, 'unprocessable'],
      ['GET', '/sessions/s/events?dialect=latin', undefined, 422, 'unprocessable'],
    ].map(([method, path, given, status, code]) => ({
      method,
      path: String(path).slice(0, 40),
      full: String(path),
      given,
      status: Number(status),
      code: String(code),
    })),
  )('$method $path → $status', async ({ method, full, given, status, code }) => {
    isProblem(await send(String(method), full, given), status, code)
  })

  test('another media type is a 415', async () => {
    isProblem(await send('POST', '/run_sse', '<x/>', { 'content-type': 'application/xml' }), 415, 'unsupported-type')
  })

  test('a 422 names every bad field', async () => {
    const { problem } = await send('POST', '/run', { appName: 3, userId: '', newMessage: { parts: [{ text: 7 }] } })
    expect(problem.errors.map(({ path }: { path: string }) => path)).toEqual([
      'appName',
      'userId',
      'sessionId',
      'newMessage.parts[0].text',
    ])
    expect(
      (
        await send('POST', '/', { threadId: 1, messages: [{ id: '1', role: 'nobody', content: 'x' }] })
      ).problem.errors.map(({ path }: { path: string }) => path),
    ).toEqual(expect.arrayContaining(['threadId', 'messages[0].role']))
  })

  test.each(
    [
      ['POST', '/', { ...body, state: { pad: 'x'.repeat(600) } }, 'state'],
      [
        'POST',
        '/',
        { ...body, messages: Array.from({ length: 4 }, (_, i) => ({ id: `${i}`, role: 'user', content: 'x' })) },
        'messages',
      ],
      [
        'POST',
        '/',
        { ...body, tools: [1, 2, 3].map((i) => ({ name: `t${i}`, description: '', parameters: {} })) },
        'tools',
      ],
      ['POST', '/run_sse', { ...adkBody, stateDelta: { pad: 'x'.repeat(600) } }, 'stateDelta'],
      ['POST', '/sessions/s/runs', { input: { messages: [], state: { pad: 'x'.repeat(600) } } }, 'state'],
      ['POST', '/apps/echo/users/user/sessions', { state: { pad: 'x'.repeat(600) } }, 'state'],
      ['PATCH', '/apps/echo/users/user/sessions/s', { stateDelta: { pad: 'ü'.repeat(300) } }, 'stateDelta'],
    ].map(([method, path, given, field]) => ({ method: String(method), path: String(path), given, field })),
  )('$method $path with too much $field is a 422', async ({ method, path, given, field }) => {
    const answer = await send(method, path, given)
    isProblem(answer, 422, 'unprocessable')
    expect(answer.problem.errors[0].path).toBe(field)
  })

  test('AG-UI and ADK refuse as application/json, everything else as problem+json', async () => {
    const json = [
      ['POST', '/'],
      ['POST', '/ag-ui/echo'],
      ['GET', '/ag-ui/none/capabilities'],
      ['POST', '/run'],
      ['POST', '/run_sse'],
      ['PUT', '/run_sse'],
      ['GET', '/apps/none/users/u/sessions'],
      ['GET', '/apps/echo/users/u/sessions/none/artifacts/a'],
      ['GET', '/dev/apps/none/build_graph'],
      ['GET', '/debug/trace/session/none'],
    ] as const
    const problem = [
      ['GET', '/nowhere'],
      ['POST', '/sessions/none/chat'],
      ['GET', '/sessions/none/events'],
      ['GET', '/api/projects/none'],
      ['POST', '/api/projects/echo/stream'],
      ['PUT', '/sessions/none/chat'],
      ['POST', '/sessions/import'],
    ] as const
    for (const [method, path] of json)
      expect((await send(method, path)).headers.get('content-type'), path).toBe('application/json; charset=utf-8')
    for (const [method, path] of problem)
      expect((await send(method, path)).headers.get('content-type'), path).toBe(
        'application/problem+json; charset=utf-8',
      )
  })

  test('a wrong method on any known path is a 405 that says which it has', async () => {
    const { paths } = server.app.swagger() as { paths: Record<string, Record<string, unknown>> }
    let seen = 0
    for (const [path, operations] of Object.entries(paths)) {
      const at = path.replace(/\{[^}]+\}/g, 'x')
      // One path may fit two routes (`/sessions/import` is a session's too): what any of them takes is no wrong method.
      const allow = (await send('OPTIONS', at)).headers.get('allow')?.split(', ') ?? []
      expect(allow, path).toEqual(expect.arrayContaining(Object.keys(operations).map((verb) => verb.toUpperCase())))
      const wrong = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].find((verb) => !allow.includes(verb))
      if (wrong === undefined) continue
      const answer = await send(wrong, at)
      isProblem(answer, 405, 'method-not-allowed')
      expect(answer.headers.get('allow')).toBe(allow.join(', '))
      seen += 1
    }
    expect(seen).toBeGreaterThan(40)
    expect((await send('PUT', '/')).headers.get('allow')).toBe('OPTIONS, POST')
    expect((await send('DELETE', '/health')).headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  })

  test('OPTIONS says what a path has; HEAD answers what GET would, and starts nothing', async () => {
    const options = await send('OPTIONS', '/sessions/s')
    expect(options.status).toBe(204)
    expect(options.headers.get('allow')).toBe('DELETE, GET, HEAD, OPTIONS, PATCH')
    isProblem(await send('OPTIONS', '/nowhere'), 404, 'not-found')
    expect(await send('HEAD', '/sessions')).toMatchObject({ status: 200, text: '' })
    const stream = await send('HEAD', '/sessions/s/events?dialect=adk')
    expect(stream).toMatchObject({ status: 200, text: '' })
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    const before = (await server.log.list({})).total
    expect((await send('HEAD', '/api/projects/echo/stream?input=hi')).status).toBe(405)
    expect((await server.log.list({})).total).toBe(before)
  })

  test('what is no HTTP is refused as a problem too', async () => {
    const got = await new Promise<string>((resolve) => {
      let text = ''
      const socket = connect(Number(new URL(address).port), '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'))
      socket.on('data', (data) => {
        text += data.toString()
      })
      socket.on('close', () => resolve(text))
    })
    expect(got).toMatch(/^HTTP\/1\.1 400 /)
    expect(JSON.parse(got.slice(got.indexOf('\r\n\r\n')))).toMatchObject({ status: 400, code: 'invalid' })
  })

  test('a session whose run is read is busy: 409 on every surface', async () => {
    const stay = new AbortController()
    const first = await fetch(`${address}/ag-ui/patient`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, threadId: 'busy', runId: 'first' }),
      signal: stay.signal,
    })
    expect(first.status).toBe(200)
    const others: readonly (readonly [string, unknown])[] = [
      ['/ag-ui/patient', { ...body, threadId: 'busy', runId: 'second' }],
      ['/run', { ...adkBody, appName: 'patient', sessionId: 'busy' }],
      ['/run_sse', { ...adkBody, appName: 'patient', sessionId: 'busy' }],
      ['/api/projects/patient/stream', { input: 'hi', session_id: 'busy' }],
      ['/sessions/busy/chat', { message: 'hi' }],
      ['/sessions/busy/runs', { input: { messages: [] } }],
    ]
    for (const [path, given] of others) isProblem(await send('POST', path, given), 409, 'busy')
    stay.abort()
    await server.engine.cancel('busy')
  })

  test('of many that ask /run of one session at once, one is answered and the others are refused as busy', async () => {
    await server.log.create({ id: 'rush', user: 'user', agent: 'patient' })
    const ask = () => send('POST', '/run', { ...adkBody, appName: 'patient', sessionId: 'rush' })
    const codes: string[] = []
    const all = [ask(), ask(), ask()].map((each) => each.then(({ problem }) => codes.push(problem?.code)))
    await vi.waitFor(() => expect(codes).toEqual(['busy', 'busy']), { timeout: 60_000 })
    await server.engine.cancel('rush')
    await Promise.all(all)
    // A run that was stopped is no answer either.
    expect(codes).toEqual(['busy', 'busy', 'cancelled'])
    expect((await server.log.get('rush'))?.runs).toBe(1)
  })

  test('a client that has left /run is no reader: the next one takes its place', async () => {
    await server.log.create({ id: 'left', user: 'user', agent: 'patient' })
    const first = new AbortController()
    const gone = fetch(`${address}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...adkBody, appName: 'patient', sessionId: 'left' }),
      signal: first.signal,
    }).catch(() => undefined)
    await vi.waitFor(async () => expect((await server.log.get('left'))?.runs).toBe(1), 60_000)
    first.abort()
    await gone
    const next = new AbortController()
    const second = await fetch(`${address}/sessions/left/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'hi' }),
      signal: next.signal,
    })
    expect(second.status).toBe(200)
    next.abort()
    await server.engine.cancel('left')
  })

  test('a store that fails says so, and not where its files are', async () => {
    const refused = () =>
      Promise.reject(new MillraceError('store-failed', 'cannot write to /srv/secret: full', { reason: 'full' }))
    const log = { ...memoryLog(Date.now), create: refused, restorePages: refused }
    const broken = await testServer({ with: [echo], fallback: 'echo', log })
    for (const url of ['/sessions', '/sessions/x/runs', '/apps/echo/users/user/sessions/x']) {
      const payload = url.endsWith('runs') ? { input: { messages: [] } } : {}
      const answer = await broken.app.inject({ method: 'POST', url, payload, headers: { host: 'localhost' } })
      expect(answer.json()).toMatchObject({ status: 507, code: 'no-room', detail: expect.stringContaining('full') })
      expect(answer.body).not.toContain('secret')
    }
    await broken.close(0)
  })

  test('too many runs at once are a 429 that says when to come back', async () => {
    const strict = await testServer({ with: [patient], fallback: 'patient', runLimits: { perUser: 1 } })
    const at = await strict.app.listen({ port: 0, host: '127.0.0.1' })
    const start = (id: string) =>
      fetch(`${at}/sessions/${id}/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ input: { messages: [] } }),
      })
    expect((await start('one')).status).toBe(201)
    const refused = await start('two')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.json()).toMatchObject({ code: 'limit' })
    await strict.close(0)
  })

  test('while it shuts down, new runs are a 503 on every surface, and running ones are still heard', async () => {
    const closing = await testServer({ with: [patient, echo], fallback: 'patient', runLimits: { abortGrace: 50 } })
    const at = await closing.app.listen({ port: 0, host: '127.0.0.1' })
    const post = (path: string, given: unknown) =>
      fetch(`${at}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(given),
      })
    await closing.log.create({ id: 'plan', user: 'user', agent: 'echo' })
    const running = await post('/ag-ui/patient', { ...body, threadId: 'long' })
    expect(running.status).toBe(200)
    // The grace is longer than any test: the run ends because it is cancelled, after all the questions were asked.
    const closed = closing.close(900_000)
    for (const [path, given] of [
      ['/', body],
      ['/run', { ...adkBody, sessionId: 'plan' }],
      ['/run_sse', { ...adkBody, sessionId: 'plan' }],
      ['/api/projects/echo/stream', { input: 'hi' }],
      ['/sessions/plan/chat', { message: 'hi' }],
      ['/sessions/plan/runs', { input: { messages: [] } }],
    ] as const) {
      const refused = await post(path, given)
      expect(refused.status, path).toBe(503)
      expect(Number(refused.headers.get('retry-after')), path).toBeGreaterThan(0)
      expect(await refused.json()).toMatchObject({ code: 'unavailable', status: 503 })
    }
    expect((await fetch(`${at}/ready`)).status).toBe(503)
    expect((await fetch(`${at}/health`)).status).toBe(200)
    expect(await closing.engine.cancel('long')).toBe(true)
    expect(await running.text()).toContain('RUN_FINISHED')
    await closed
  })
})
