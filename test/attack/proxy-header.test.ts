import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testServer } from '../kit/server.ts'

/** A proxy signs the users in, and names them in a header. It proves itself by a secret. */
const secret = 'the-secret-of-the-proxy'

describe('SPEC 6.5: a header of a proxy', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let port: string
  beforeAll(async () => {
    server = await testServer({ access: { proxy: { secret }, operators: ['ops'] } })
    port = new URL(await server.app.listen({ port: 0, host: '127.0.0.1' })).port
  })
  afterAll(() => server.close(0))
  /** By `node:http`, which sends a header of two values as two headers. */
  const ask = async (headers: Record<string, string | string[]>, path = '/me') => {
    const sent = request({ host: '127.0.0.1', port, path, headers }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: answer.statusCode, body: JSON.parse(await text(answer)) }
  }
  const proven = { 'x-millrace-proxy-secret': secret }

  test('names the user, and an operator by name', async () => {
    expect(await ask({ ...proven, 'x-forwarded-user': 'ada' })).toEqual({
      status: 200,
      body: { user: 'ada', operator: false },
    })
    expect((await ask({ ...proven, 'x-forwarded-user': 'ops' })).body).toMatchObject({ operator: true })
  })

  test.each<[string, Record<string, string | string[]>]>([
    ['without the secret', { 'x-forwarded-user': 'ada' }],
    ['with another secret', { 'x-millrace-proxy-secret': 'a-guess', 'x-forwarded-user': 'ada' }],
    ['with an empty secret', { 'x-millrace-proxy-secret': '', 'x-forwarded-user': 'ada' }],
    ['with two secrets', { 'x-millrace-proxy-secret': ['a-guess', secret], 'x-forwarded-user': 'ada' }],
    ['without a user', proven],
    ['with an empty user', { ...proven, 'x-forwarded-user': '' }],
    ['with the user of a client before that of the proxy', { ...proven, 'x-forwarded-user': ['mallory', 'ada'] }],
  ])('%s is refused', async (_name, headers) => {
    expect((await ask(headers)).status).toBe(401)
  })

  test('another name of the header is used where it is set', async () => {
    const other = await testServer({ access: { proxy: { secret, userHeader: 'X-Auth-Email' } } })
    const headers = { host: 'localhost', ...proven, 'x-auth-email': 'ada@example.com', 'x-forwarded-user': 'bob' }
    const answer = await other.app.inject({ url: '/me', headers })
    expect(answer.json()).toMatchObject({ user: 'ada@example.com' })
    await other.close(0)
  })

  test('gets no cookie: its users are signed out at the proxy', async () => {
    const headers = { host: 'localhost', ...proven, 'x-forwarded-user': 'ada' }
    const answer = await server.app.inject({ method: 'POST', url: '/sign-in', headers })
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([200, undefined])
  })
})
