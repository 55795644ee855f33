import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { helper, rows } from '../kit/adk-web-rows.ts'
import { testServer } from '../kit/server.ts'

/**
 * Every call an unmodified adk-web makes, with what it reads of the answer: a row here is a row of its client code.
 * It is "pointed at" us from an origin of its own, so every call is also made from there.
 */
const origin = 'https://adk-web.example'

describe('adk-web, unmodified', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  beforeAll(async () => {
    server = await testServer({ with: [helper], access: { origins: [origin] } })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    for (const id of ['chat', 'failing']) await server.log.create({ id, user: 'user', agent: 'helper' })
  })
  afterAll(() => server.close(0))

  test.each(rows)(
    'row $row: $method $path',
    async ({ method, path, body, form, headers = {}, status = 200, reads }) => {
      const sent = new FormData()
      for (const [name, text] of Object.entries(form ?? {})) sent.append(name, new Blob([text]), 'agent.yaml')
      const answer = await fetch(`${address}${path}`, {
        method,
        headers: { origin, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(form === undefined ? {} : { body: sent }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      const type = answer.headers.get('content-type') ?? ''
      expect(answer.status, text).toBe(status)
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
      const json = type.startsWith('application/json') ? (JSON.parse(text) as never) : (undefined as never)
      if (status >= 400) expect(json).toMatchObject({ status, error: expect.any(String) })
      reads?.({ status, type, text, json })
    },
  )

  test('row 4: run_live is a WebSocket that closes with a reason a person can read', async () => {
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', origin }
    const asked = get(`${address}/run_live?app_name=helper&user_id=user&session_id=chat`, {
      headers: { ...upgrade, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
    })
    const [answer, socket, head] = (await once(asked, 'upgrade')) as [IncomingMessage, Socket, Buffer]
    // The example of RFC 6455 1.3.
    expect(answer.headers['sec-websocket-accept']).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    const pieces = [head]
    for await (const piece of socket) pieces.push(piece as Buffer)
    const frame = Buffer.concat(pieces)
    expect([frame[0], frame[1], frame.readUInt16BE(2)]).toEqual([0x88, frame.length - 2, 1011])
    expect(frame.subarray(4).toString()).toBe('This server has no live audio and video: use the chat')
    expect((await fetch(`${address}/run_live`)).status).toBe(404)
  })

  test('a browser at another origin may use every method, and the telemetry header', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const headers = {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type,x-adk-telemetry-request',
      }
      const { status, headers: answer } = await fetch(`${address}/apps/helper/users/user/sessions/chat`, {
        method: 'OPTIONS',
        headers,
      })
      expect(status).toBe(204)
      expect(answer.get('access-control-allow-methods')).toContain(method)
      expect(answer.get('access-control-allow-headers')).toContain('x-adk-telemetry-request')
    }
  })
})
