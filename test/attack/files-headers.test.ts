import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

/** Every answer has the headers that protect a browser, refusals as well. */
let server: Awaited<ReturnType<typeof testServer>>
let address: URL
beforeAll(async () => {
  const tokens = new Map([['token-of-ann', 'ann']])
  const echo = scriptedAgent('echo', () => speech('echo', 'hello'))
  server = await testServer({ with: [echo], fallback: 'echo', access: { tokens } })
  address = new URL(await server.app.listen({ port: 0, host: '127.0.0.1' }))
})
afterAll(() => server.close(0))

/** One request as bytes; the whole answer as text. */
function sent(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(address.port), '127.0.0.1', () => socket.end(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += String(chunk)
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}
const request = (line: string, headers: Record<string, string> = {}): string =>
  `${line} HTTP/1.1\r\n${Object.entries({ host: 'localhost', connection: 'close', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
const ann = { authorization: 'Bearer token-of-ann' }

test.each([
  ['200 alive', request('GET /health')],
  ['200 of a user', request('GET /sessions', ann)],
  ['401 without a token', request('GET /sessions')],
  ['401 with a wrong token', request('GET /sessions', { authorization: 'Bearer wrong' })],
  ['403 for another Host', request('GET /sessions', { ...ann, host: 'evil.example' })],
  ['403 from another site', request('GET /sessions', { ...ann, origin: 'https://evil.example' })],
  ['404 unknown route', request('GET /nothing', ann)],
  ['404 unknown session', request('GET /sessions/none', ann)],
  ['405 wrong method', request('DELETE /health', ann)],
  ['204 methods', request('OPTIONS /health', ann)],
  ['400 a bad URL', request('GET /%ZZ', ann)],
  ['400 no HTTP', 'nonsense\r\n\r\n'],
  ['431 a long header', request('GET /health', { 'x-long': 'x'.repeat(20_000) })],
])('%s', async (status, text) => {
  const answer = await sent(text)
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status.slice(0, 3)} `))
  const head = answer.split('\r\n\r\n')[0]?.toLowerCase()
  expect(head).toContain('x-content-type-options: nosniff')
  expect(head).toContain("content-security-policy: default-src 'self'")
  expect(head).toContain('x-frame-options: ')
  expect(head).toContain('referrer-policy: same-origin')
})

test('a token may be configured as its hash, and the hash is no token', async () => {
  const hash = `sha256:${createHash('sha256').update('token-of-ann').digest('hex')}`
  const other = await testServer({ access: { tokens: new Map([[hash, 'ann']]) } })
  const status = async (token: string): Promise<number> => {
    const headers = { host: 'localhost', authorization: `Bearer ${token}` }
    return (await other.app.inject({ url: '/sessions', headers })).statusCode
  }
  expect(await status('token-of-ann')).toBe(200)
  expect(await status(hash)).toBe(401)
  await other.close(0)
})
