import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { adk, connect, webHost } from '@millrace/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scriptedAgent, speech, textOf } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { aborted } from '../kit/waiting.ts'

const echo = scriptedAgent('echo', (input) => speech('echo', `You said ${textOf(input)}`))
/** Says something, then waits until it is stopped. */
const patient = scriptedAgent('patient', async function* (_, { signal }) {
  yield { kind: 'log', level: 'info', message: 'waiting' }
  await aborted(signal)
})

/** Every way to get a stream (and `/run`, which waits for one): the request for a session, of an agent. */
interface Way {
  readonly way: string
  readonly dialect?: string
  readonly request: (agent: string, session: string) => { method: string; path: string; body?: object }
}
const adkBody = (appName: string, sessionId: string) => ({
  appName,
  userId: 'user',
  sessionId,
  newMessage: { parts: [{ text: 'hi' }] },
})
const agUiBody = (threadId: string) => ({
  threadId,
  runId: `${threadId}-r`,
  messages: [{ id: '1', role: 'user', content: 'hi' }],
})
const ways: readonly Way[] = [
  {
    way: 'AG-UI, default agent',
    dialect: 'ag-ui-0',
    request: (agent, id) => ({ method: 'POST', path: '/', body: { ...agUiBody(id), forwardedProps: { agent } } }),
  },
  {
    way: 'AG-UI',
    dialect: 'ag-ui-0',
    request: (agent, id) => ({ method: 'POST', path: `/ag-ui/${agent}`, body: agUiBody(id) }),
  },
  {
    way: 'AG-UI 1.0',
    dialect: 'ag-ui',
    request: (agent, id) => ({
      method: 'POST',
      path: `/ag-ui/${agent}`,
      body: { ...agUiBody(id), protocolVersion: '1.0' },
    }),
  },
  {
    way: 'ADK run_sse',
    dialect: 'adk',
    request: (agent, id) => ({ method: 'POST', path: '/run_sse', body: { ...adkBody(agent, id), streaming: true } }),
  },
  {
    way: 'ADK run_sse, whole',
    dialect: 'adk-whole',
    request: (agent, id) => ({ method: 'POST', path: '/run_sse', body: adkBody(agent, id) }),
  },
  { way: 'ADK run', request: (agent, id) => ({ method: 'POST', path: '/run', body: adkBody(agent, id) }) },
  {
    way: 'Studio GET',
    dialect: 'studio',
    request: (agent, id) => ({ method: 'GET', path: `/api/projects/${agent}/stream?input=hi&session_id=${id}` }),
  },
  {
    way: 'Studio POST',
    dialect: 'studio',
    request: (agent, id) => ({
      method: 'POST',
      path: `/api/projects/${agent}/stream`,
      body: { input: 'hi', session_id: id },
    }),
  },
  {
    way: 'Plan chat',
    dialect: 'plan',
    request: (_, id) => ({ method: 'POST', path: `/sessions/${id}/chat`, body: { message: 'hi' } }),
  },
  {
    way: 'Plan execute',
    dialect: 'plan',
    request: (_, id) => ({ method: 'POST', path: `/sessions/${id}/execute`, body: {} }),
  },
]
const streaming = ways.filter(({ dialect }) => dialect !== undefined)

describe('streams over HTTP', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  beforeAll(async () => {
    server = await testServer({ with: [echo, patient], fallback: 'echo', heartbeat: 100 })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(() => server.close(0))

  let ids = 0
  const session = async (agent: string): Promise<string> => {
    const id = `stream-${++ids}`
    await server.log.create({ id, user: 'user', agent })
    await server.log.append(id, [
      { run: '', event: { kind: 'tasks', tasks: [{ id: 't', title: 'T', status: 'pending', order: 0 }] } },
    ])
    return id
  }
  const send = (
    { method, path, body }: ReturnType<Way['request']>,
    more: { headers?: Record<string, string>; signal?: AbortSignal; query?: string; at?: string } = {},
  ) => {
    const query = more.query === undefined ? '' : `${path.includes('?') ? '&' : '?'}${more.query}`
    return fetch(`${more.at ?? address}${path}${query}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more.headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    })
  }
  const running = async (id: string): Promise<string> => {
    for (;;) {
      const info = await server.log.get(id)
      if (info?.status === 'running' && info.lastRun !== undefined) return info.lastRun
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  /** Begins, and leaves as soon as the run runs and what can be read of it so far was. */
  const beginAndLeave = async ({ request, dialect }: Way, query?: string) => {
    const id = await session('patient')
    const leave = new AbortController()
    const answer = send(request('patient', id), { signal: leave.signal, ...(query === undefined ? {} : { query }) })
    const gone = answer.then((response) => response.text()).catch(() => 'gone')
    const run = await running(id)
    if (dialect !== undefined) await answer
    leave.abort()
    await gone
    return { id, run }
  }

  const stopsByDefault = ({ way }: Way): boolean => way.startsWith('ADK')

  test.each(ways)('SPEC 4.2: $way: leaving is not stopping, unless the surface is set so', async (way) => {
    const { id, run } = await beginAndLeave(way, stopsByDefault(way) ? 'disconnect=continue' : undefined)
    await noReaders()
    expect(await server.log.get(id)).toMatchObject({ status: 'running', lastRun: run })
    expect(await server.engine.cancel(id)).toBe(true)
  })

  test.each(ways)('$way: with ?disconnect=cancel it is', async (way) => {
    const { id, run } = await beginAndLeave(way, 'disconnect=cancel')
    expect(await server.engine.wait(id, run)).toBe('cancelled')
  })

  test.each(ways.filter(stopsByDefault))('$way: leaving stops, because adk-web stops a run like that', async (way) => {
    const { id, run } = await beginAndLeave(way)
    expect(await server.engine.wait(id, run)).toBe('cancelled')
  })

  test('a client that joins again after a cut keeps its run on every surface', async () => {
    const id = await session('patient')
    const stream = connect(`${address}/run_sse`, {
      dialect: adk,
      body: adkBody('patient', id),
      host: webHost(globalThis),
    })
    const first = stream[Symbol.asyncIterator]()
    void first.next()
    await running(id)
    while (server.streams.readers === 0) await new Promise((resolve) => setImmediate(resolve))
    stream.close()
    await noReaders()
    expect((await server.log.get(id))?.status).toBe('running')
    expect(await server.engine.cancel(id)).toBe(true)
  })

  test('a bad ?disconnect= is refused, and nothing starts', async () => {
    const id = await session('echo')
    const [way] = ways
    const answer = await send(way!.request('echo', id), { query: 'disconnect=maybe' })
    expect(answer.status).toBe(400)
    expect((await server.log.get(id))?.runs).toBe(0)
  })

  test('a second reader with ?disconnect=cancel may stop a run, one without may not', async () => {
    const id = await session('patient')
    const { run } = await server.engine.start({ session: id, user: 'user', agent: 'patient', input: { messages: [] } })
    for (const query of ['', '&disconnect=cancel']) {
      const leave = new AbortController()
      await fetch(`${address}/sessions/${id}/events?run=${run}${query}`, { signal: leave.signal })
      leave.abort()
      await noReaders()
      if (query === '') expect((await server.log.get(id))?.status).toBe('running')
    }
    expect(await server.engine.wait(id, run)).toBe('cancelled')
  })

  test('a HEAD request with ?disconnect=cancel stops nothing', async () => {
    const id = await session('patient')
    const { run } = await server.engine.start({ session: id, user: 'user', agent: 'patient', input: { messages: [] } })
    const head = await fetch(`${address}/sessions/${id}/events?run=${run}&disconnect=cancel`, { method: 'HEAD' })
    expect(head.status).toBe(200)
    await noReaders()
    expect(await server.engine.cancel(id)).toBe(true)
    const [finished] = (await server.log.read(id, { after: 0 })).filter(({ event }) => event.kind === 'run.finished')
    expect(finished).toMatchObject({ event: { error: { message: 'cancelled on request' } } })
  })

  /** Until the server knows that everybody has left. */
  const noReaders = async (): Promise<void> => {
    while (server.streams.readers > 0) await new Promise((resolve) => setImmediate(resolve))
  }

  test.each(streaming)('$way: head, framing, ids, and a place to join it again', async ({ request, dialect }) => {
    const id = await session('echo')
    const namesRun = dialect === 'studio'
    const answer = await send(request('echo', id))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/event-stream')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-accel-buffering')).toBe('no')
    expect(answer.headers.get('content-length')).toBeNull()
    // A store may take longer than the time between two heartbeats.
    const textOf = async (response: Response): Promise<string> =>
      (await response.text()).replaceAll(': heartbeat\n\n', '')
    const text = await textOf(answer)
    expect(text).not.toContain('\r')
    expect(text.startsWith('retry: ')).toBe(true)
    expect(text.endsWith('\n\n')).toBe(true)
    // Where a GET may start a run, every id names it, for a browser that comes back to it; its place does without.
    const plain = namesRun ? text.replace(/\nid: .*\n\n/, '\n').replace(/^id: .*:(\d+)$/gm, 'id: $1') : text
    const cursors = [...plain.matchAll(/^id: (\d+)$/gm)].map(([, cursor]) => Number(cursor))
    expect(cursors.length).toBeGreaterThan(0)
    expect(cursors).toEqual(cursors.toSorted((a, b) => a - b))
    expect(plain.slice(plain.trimEnd().lastIndexOf('\n\n'))).toMatch(/^id: \d+$/m)
    // A relative reference: it holds behind any prefix.
    const place = new URL(answer.headers.get('content-location') ?? '', answer.url)
    expect(place.searchParams.get('dialect')).toBe(dialect)
    const again = await textOf(await fetch(place))
    expect(again).toBe(plain)
    const half = cursors[Math.floor(cursors.length / 2)] ?? 0
    const rest = await textOf(await fetch(place, { headers: { 'last-event-id': String(half) } }))
    const cut = again.indexOf('\n\n', again.indexOf(`id: ${half}\n`)) + 2
    expect(rest.replace(/^retry: \d+\n\n/, '')).toBe(again.slice(cut))
  })

  test('a reader that waits gets heartbeats', async () => {
    const id = await session('patient')
    const leave = new AbortController()
    const answer = await fetch(`${address}/sessions/${id}/events?dialect=adk`, { signal: leave.signal })
    const reader = answer.body?.getReader()
    let text = ''
    while (!text.includes(': heartbeat\n\n: heartbeat\n\n'))
      text += new TextDecoder().decode((await reader?.read())?.value)
    leave.abort()
  })

  test('?from=live joins at the end, with what came before summed up by the prelude', async () => {
    const id = await session('echo')
    await (await send({ method: 'POST', path: '/ag-ui/echo', body: agUiBody(id) })).text()
    const leave = new AbortController()
    const answer = await fetch(`${address}/sessions/${id}/events?dialect=ag-ui&from=live`, { signal: leave.signal })
    const reader = answer.body?.getReader()
    const decoder = new TextDecoder()
    let text = ''
    while (!text.includes('MESSAGES_SNAPSHOT')) text += decoder.decode((await reader?.read())?.value)
    expect(text).not.toContain('TEXT_MESSAGE_CONTENT')
    expect(text).toContain('You said hi')
    const next = send({ method: 'POST', path: '/ag-ui/echo', body: { ...agUiBody(id), runId: 'later' } })
    while (!/later.*RUN_FINISHED.*later/s.test(text)) text += decoder.decode((await reader?.read())?.value)
    leave.abort()
    await (await next).text()
  })

  test.each([
    ['nothing', undefined, 'text/event-stream'],
    ['anything', '*/*', 'text/event-stream'],
    ['any application', 'application/*', 'text/event-stream'],
    ['a stream', 'text/event-stream', 'text/event-stream'],
    ['json', 'application/json', 'text/event-stream'],
    ['another protobuf', 'application/x-protobuf', 'text/event-stream'],
    ['protobuf, unwanted', 'application/vnd.ag-ui.event+proto;q=0, text/event-stream', 'text/event-stream'],
    ['protobuf', 'application/vnd.ag-ui.event+proto', 'application/vnd.ag-ui.event+proto'],
    [
      'protobuf among others',
      'text/event-stream, application/vnd.ag-ui.event+proto;q=0.9',
      'application/vnd.ag-ui.event+proto',
    ],
  ])('Accept of %s', async (_name, accept, type) => {
    const id = `accept-${++ids}`
    const headers = accept === undefined ? {} : { accept }
    const answer = await send({ method: 'POST', path: '/ag-ui/echo', body: agUiBody(id) }, { headers })
    expect(answer.headers.get('content-type')).toBe(type)
    await answer.arrayBuffer()
  })

  test.each([
    [
      '0.x, with the fewest fields',
      { threadId: 'old-1', runId: 'r', messages: [{ id: '1', role: 'user', content: 'hi' }] },
    ],
    [
      '0.x, snake_case',
      { thread_id: 'old-2', run_id: 'r', messages: [{ id: '1', role: 'user', content: 'hi' }], forwarded_props: {} },
    ],
    [
      '0.x, with a tool turn in its history',
      {
        threadId: 'old-3',
        runId: 'r',
        state: {},
        tools: [],
        context: [],
        forwardedProps: {},
        messages: [
          { id: '0', role: 'developer', content: 'be kind' },
          { id: '1', role: 'user', content: 'hi' },
          {
            id: '2',
            role: 'assistant',
            toolCalls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }],
          },
          { id: '3', role: 'tool', toolCallId: 'c', content: 'seen' },
          { id: '4', role: 'user', content: 'hi' },
        ],
      },
    ],
    [
      '1.0, with unknown parts and fields',
      {
        threadId: 'new-1',
        runId: 'r',
        messages: [{ id: '1', role: 'user', content: [{ type: 'text', text: 'hi' }], later: 1 }],
        parentRunId: 'p',
        future: true,
      },
    ],
  ])('a body of %s runs', async (_name, body) => {
    const text = await (await send({ method: 'POST', path: '/ag-ui/echo', body })).text()
    expect(text).toContain('"type":"RUN_FINISHED"')
    expect(text).toMatch(/hi/)
  })

  test('behind a proxy, under a prefix that it strips or that it does not', async () => {
    const prefixed = await testServer({ with: [echo], fallback: 'echo', basePath: '/mill' })
    const inner = new URL(await prefixed.app.listen({ port: 0, host: '127.0.0.1' }))
    const proxy = createServer((incoming, outgoing) => {
      const path = (incoming.url ?? '').replace(/^\/strip\/mill/, '')
      const { host: _host, ...headers } = incoming.headers
      const onward = httpRequest(
        { port: inner.port, method: incoming.method, path, headers: { ...headers, host: 'localhost' } },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(outgoing)
        },
      )
      incoming.pipe(onward)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const outside = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    for (const at of [`${outside}/mill`, `${outside}/strip/mill`]) {
      const id = `proxied-${++ids}`
      const answer = await send({ method: 'POST', path: '', body: agUiBody(id) }, { at: `${at}/` })
      const text = await answer.text()
      expect(text).toContain('RUN_FINISHED')
      const place = new URL(answer.headers.get('content-location') ?? '', answer.url)
      expect(place.href.startsWith(`${at}/sessions/${id}/events?`)).toBe(true)
      expect(await (await fetch(place)).text()).toBe(text)
      const studio = await fetch(`${at}/api/projects/echo/stream?input=hi`)
      await studio.text()
      const rejoin = new URL(studio.headers.get('content-location') ?? '', studio.url)
      expect(await (await fetch(rejoin)).text()).toContain('event: end')
      // The document says that its server is where it is.
      const document = (await (await fetch(`${at}/openapi.json`)).json()) as { servers: { url: string }[] }
      expect(new URL(document.servers[0]?.url ?? '', `${at}/openapi.json`).href).toBe(`${at}/`)
      expect((await fetch(`${at}/nowhere`)).status).toBe(404)
    }
    expect((await fetch(`${outside}/millstone/health`)).status).toBe(404)
    proxy.close()
    proxy.closeAllConnections()
    await prefixed.close(0)
  })
})
