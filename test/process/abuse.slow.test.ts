import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { full } from '../kit/full.ts'
import { scriptedAgent, speech, textOf } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

/** What a hostile or broken client may send. Each is answered or cut; a good client is served meanwhile. */
const echo = scriptedAgent('echo', function* (input) {
  yield* speech('echo', `You said ${textOf(input)}`)
})

describe('SPEC 6.3: abuse', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  let port: number
  beforeAll(async () => {
    server = await testServer({ with: [echo], fallback: 'echo', limits: { shares: { starts: { user: 10_000 } } } })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    port = Number(new URL(address).port)
  })
  afterAll(() => server.close(0))

  let ids = 0
  const run = () => ({
    threadId: `abuse-${++ids}`,
    runId: `run-${ids}`,
    messages: [{ id: '1', role: 'user', content: 'hi' }],
  })
  const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
    fetch(`${address}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: body as BodyInit,
    })
  const served = async () => {
    const answer = await post('/', JSON.stringify(run()))
    expect(await answer.text()).toContain('"RUN_FINISHED"')
  }
  /** Sends raw bytes and resolves with all that came back when the server is done with us. */
  const raw = (bytes: string | Buffer, keep = false): Promise<string> =>
    new Promise((resolve) => {
      let got = ''
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(bytes)
        if (!keep) socket.end()
      })
      socket.on('data', (data) => {
        got += data.toString()
      })
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(got))
    })

  const surfaces = [
    '/',
    '/ag-ui/echo',
    '/run',
    '/run_sse',
    '/api/projects/echo/stream',
    '/sessions/x/chat',
    '/sessions/x/runs',
    '/sessions',
  ]
  const bodies: readonly [string, string | Uint8Array][] = [
    ['not JSON', '{"a":'],
    ['null', 'null'],
    ['an array', '[1,2]'],
    ['a number', '7'],
    ['a string', '"x"'],
    [
      'wrong types',
      '{"threadId":{},"runId":[],"messages":7,"appName":{"toString":1},"userId":{"toString":1},"sessionId":[],"newMessage":"x","input":9,"message":{},"agent":[],"title":5}',
    ],
    ['__proto__', '{"__proto__":{"admin":true},"threadId":"t","runId":"r","messages":[]}'],
    ['deep', `{"threadId":"t","runId":"r","messages":[],"state":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['bad UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
  ]
  test.each(surfaces.flatMap((path) => bodies.map(([name, body]) => [path, name, body] as const)))(
    '%s with %s is a 4xx problem',
    async (path, _name, body) => {
      const answer = await post(path, body)
      const text = await answer.text()
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
      expect(answer.headers.get('content-type')).toMatch(/json/)
      expect(text).not.toMatch(/node_modules|at .+\.ts:\d+|<html/i)
    },
  )

  test('prototypes stay clean', () => expect(({} as { admin?: unknown }).admin).toBeUndefined())

  test('duplicate keys are one key', async () => {
    const answer = await post(
      '/',
      '{"threadId":"dup-a","threadId":"dup-b","runId":"r","messages":[{"id":"1","role":"user","content":"x"}]}',
    )
    expect(await answer.text()).toContain('"threadId":"dup-b"')
  })

  test('a body of 100 MB is cut at the limit', async () => {
    const size = 100 * 1024 * 1024
    const got = await new Promise<string>((resolve) => {
      let text = ''
      const socket: Socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${size}\r\n\r\n`,
        )
        socket.write(Buffer.alloc(2 * 1024 * 1024, 0x20))
      })
      socket.on('data', (data) => {
        text += data.toString()
        socket.destroy()
      })
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(text))
    })
    expect(got).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('another content type is a 415, another method a 405, both as problems', async () => {
    expect((await post('/', 'x', { 'content-type': 'application/xml' })).status).toBe(415)
    const put = await fetch(`${address}/run_sse`, { method: 'PUT' })
    expect(put.status).toBe(405)
    expect(put.headers.get('content-type')).toMatch(/json/)
  })

  test('slow headers, slow bodies and 500 idle sockets are cut, and a good client is served meanwhile', async () => {
    const slowHeaders = Array.from({ length: 20 }, () => raw('POST / HTTP/1.1\r\nhost: localhost\r\nx-slow', true))
    const slowBodies = Array.from({ length: 20 }, () =>
      raw('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{', true),
    )
    const idle = Array.from({ length: 500 }, () => raw('', true))
    // Node reads these at every check of its connections. Only the whole form waits as long as a client may.
    const { server: http } = server.app
    const { headersTimeout, requestTimeout } = http
    expect(Math.min(headersTimeout, requestTimeout)).toBeGreaterThan(0)
    if (!full) Object.assign(http, { headersTimeout: headersTimeout / 5, requestTimeout: requestTimeout / 5 })
    try {
      await served()
      const ended = await Promise.all([...slowHeaders, ...slowBodies])
      expect(ended.every((text) => text === '' || /^HTTP\/1\.1 4\d\d /.test(text))).toBe(true)
      await served()
      await Promise.all(idle)
    } finally {
      Object.assign(http, { headersTimeout, requestTimeout })
    }
  })

  test('a flood of headers is refused', async () => {
    const flood = Array.from({ length: 4000 }, (_, i) => `x-${i}: ${'y'.repeat(40)}\r\n`).join('')
    expect(await raw(`GET /health HTTP/1.1\r\nhost: localhost\r\n${flood}\r\n`)).toMatch(/^HTTP\/1\.1 431 /)
  })

  test('pipelined requests are answered in order', async () => {
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
    const got = await raw(
      `${get('/health')}${get('/list-apps')}GET /version HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
      true,
    )
    expect(got.indexOf('"status":"ok"')).toBeLessThan(got.indexOf('["echo"]'))
    expect(got.indexOf('["echo"]')).toBeLessThan(got.indexOf('"language"'))
  })

  test('two Content-Lengths, or a chunked body with one, are refused', async () => {
    expect(
      await raw('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nabc'),
    ).toMatch(/^HTTP\/1\.1 400 /)
    expect(
      await raw(
        'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      ),
    ).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('names cannot climb: artifacts and page files', async () => {
    for (const name of ['..%2f..%2fetc%2fpasswd', '%2e%2e/%2e%2e/etc/passwd', '..%5c..%5cx']) {
      expect((await fetch(`${address}/apps/echo/users/user/sessions/none/artifacts/${name}`)).status).toBe(404)
      expect((await fetch(`${address}/assets/${name}`)).status).toBeGreaterThanOrEqual(400)
    }
  })

  test('line breaks in values cannot forge a frame', async () => {
    const evil = 'a\n\nevent: forged\ndata: {"type":"RUN_ERROR"}\n\n\r\nid: 99'
    const body = { ...run(), messages: [{ id: `x\n\ndata: forged`, role: 'user', content: evil }] }
    const text = await (await post('/', JSON.stringify(body))).text()
    expect(text).not.toMatch(/^event: forged$/m)
    expect(text).not.toMatch(/^id: 99$/m)
    const studio = await (await fetch(`${address}/api/projects/echo/stream?input=${encodeURIComponent(evil)}`)).text()
    expect(studio).not.toMatch(/^event: forged$/m)
  })

  test.each([
    ['lines', 'application/x-ndjson'],
    ['a stream', 'text/event-stream'],
    ['text', 'text/plain'],
  ])('an import of %s: too much is a 413, too deep or broken a 4xx', async (_name, type) => {
    const imported = (body: string) => post('/sessions/import', body, { 'content-type': type })
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const event = `{"type":"STATE_SNAPSHOT","snapshot":{"a":${deep}}}`
    const header = '{"millrace":1,"session":{"id":"x","agent":"a","title":""}}'
    for (const body of [
      '',
      'not a stream',
      deep,
      `${header}\n{"seq":1,"at":1,"run":"r","event":{"kind":"state","patch":[{"op":"add","path":"/a","value":${deep}}]}}\n`,
      `data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\ndata: ${event}\n\n`,
      '\u0000\u0001\ufffd',
    ]) {
      const answer = await imported(body)
      const text = await answer.text()
      // A frame too deep to read is kept as it came, as any other that cannot be read.
      if (answer.status === 201) expect(body).toContain('data: ')
      else expect(answer.status, text.slice(0, 300)).toBeLessThan(500)
      expect(answer.status).toBeGreaterThan(200)
    }
    const big = await testServer({ with: [echo], limits: { importBody: 50_000 } })
    const at = await big.app.listen({ port: 0, host: '127.0.0.1' })
    const refused = await fetch(`${at}/sessions/import`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: 'data: x\n\n'.repeat(10_000),
    })
    expect(refused.status).toBe(413)
    await big.close(0)
    await served()
  })

  test('an address in a request is never gone to', async () => {
    let visits = 0
    const canary = createServer((_request, response) => {
      visits += 1
      response.end()
    })
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(canary.address() as AddressInfo).port}/x.png`
    const image = { type: 'image', source: { type: 'url', value: url, mimeType: 'image/png' } }
    const content = [{ type: 'text', text: url }, image, { type: 'binary', mimeType: 'image/png', url }]
    const threadId = `canary-${++ids}`
    await (
      await post(
        '/',
        JSON.stringify({
          ...run(),
          threadId,
          messages: [{ id: '1', role: 'user', content }],
          context: [{ description: url, value: url }],
        }),
      )
    ).text()
    await post(`/apps/echo/users/user/sessions/canary`, '{}')
    const parts = [{ text: url }, { fileData: { fileUri: url, mimeType: 'image/png' } }]
    await (
      await post(
        '/run',
        JSON.stringify({ appName: 'echo', userId: 'user', sessionId: 'canary', newMessage: { parts } }),
      )
    ).text()
    for (const path of [
      `/api/projects/echo/stream?input=${url}&binary_path=${url}&api_key=x`,
      `/sessions/${encodeURIComponent(url)}`,
    ])
      await (await fetch(`${address}${path}`)).text()
    await (
      await post(
        `/sessions/import?dialect=adk`,
        `data: {"id":"e","author":"a","content":{"parts":${JSON.stringify(parts)}}}\n\n`,
        { 'content-type': 'text/event-stream' },
      )
    ).text()
    expect(visits).toBe(0)
    canary.close()
  })

  test('another origin and another host are refused on every way in', async () => {
    for (const path of surfaces) expect((await post(path, '{}', { origin: 'https://evil.example' })).status).toBe(403)
    expect(await raw('GET /list-apps HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 403 /,
    )
    expect(
      (await fetch(`${address}/api/projects/echo/stream?input=x`, { headers: { 'sec-fetch-site': 'cross-site' } }))
        .status,
    ).toBe(403)
  })

  test('too many new runs are refused with the time to come back', async () => {
    const strict = await testServer({ with: [echo], fallback: 'echo', limits: { shares: { starts: { user: 3 } } } })
    const at = await strict.app.listen({ port: 0, host: '127.0.0.1' })
    const start = () =>
      fetch(`${at}/`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(run()) })
    for (let i = 0; i < 3; i++) expect((await start()).status).toBe(200)
    const refused = await start()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await fetch(`${at}/health`)).status).toBe(200)
    await strict.close(0)
  })

  test('users with tokens do not see each other, whatever they claim', async () => {
    const access = {
      tokens: new Map([
        ['ada-token', 'ada'],
        ['bob-token', 'bob'],
      ]),
    }
    const guarded = await testServer({ with: [echo], fallback: 'echo', access })
    const at = await guarded.app.listen({ port: 0, host: '127.0.0.1' })
    const as = (token: string, method: string, path: string, body?: unknown) =>
      fetch(`${at}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    expect((await fetch(`${at}/sessions`)).status).toBe(401)
    await (await as('ada-token', 'POST', '/', { ...run(), threadId: 'secret' })).text()
    for (const [method, path, body] of [
      ['GET', '/sessions/secret'],
      ['GET', '/sessions/secret/events'],
      ['GET', '/sessions/secret/log'],
      ['GET', '/sessions/secret/state'],
      ['GET', '/sessions/secret/views/transcript'],
      ['GET', '/sessions/secret/tasks'],
      ['GET', '/apps/echo/users/ada/sessions/secret'],
      ['GET', '/apps/echo/users/ada/sessions'],
      ['GET', '/dev/apps/echo/debug/trace/session/secret'],
      ['POST', '/sessions/secret/cancel', {}],
      ['POST', '/sessions/secret/fork', {}],
      ['POST', '/api/sessions/secret/resume', { response: 1 }],
      ['POST', '/run', { appName: 'echo', userId: 'ada', sessionId: 'secret', newMessage: { parts: [{ text: 'x' }] } }],
      ['DELETE', '/sessions/secret'],
    ] as const) {
      const answer = await as('bob-token', method, path, body)
      expect(answer.status, `${method} ${path}`).toBe(404)
      await answer.text()
    }
    expect((await (await as('bob-token', 'GET', '/sessions')).json()) as { total: number }).toMatchObject({ total: 0 })
    expect((await as('ada-token', 'GET', '/sessions/secret')).status).toBe(200)
    await guarded.close(0)
  })
})
