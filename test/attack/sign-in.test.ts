import { randomBytes } from 'node:crypto'
import { idInKey } from '@millrace/core/store'
import { afterEach, describe, expect, test } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { tokenIssuer } from '../kit/token-issuer.ts'

/** A browser sends its token once and gets a cookie, which EventSource and links send by themselves. */
const echo = scriptedAgent('echo', () => speech('echo', 'hello'))
const token = 'a-token-of-ada'
const own = { origin: 'http://localhost:8000' }
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function scene(options: Parameters<typeof testServer>[0] = {}) {
  const tokens = new Map([[token, 'ada']])
  const server = await testServer({ with: [echo], fallback: 'echo', access: { tokens }, ...options })
  closers.push(() => server.close(0))
  type Method = 'GET' | 'POST' | 'DELETE'
  const ask = (method: Method, url: string, headers: Record<string, string> = {}) =>
    server.app.inject({ method, url, headers: { host: 'localhost:8000', ...headers } })
  const signIn = async (headers: Record<string, string> = { authorization: `Bearer ${token}` }) => {
    const answer = await ask('POST', '/sign-in', { ...own, ...headers })
    const set = String(answer.headers['set-cookie'] ?? '')
    return { status: answer.statusCode, body: answer.json(), set, cookie: set.split(';')[0] ?? '' }
  }
  return { server, ask, signIn }
}

describe('SPEC 6.6: a signed-in browser', () => {
  test('has a cookie that no script reads and no other site sends, and that holds no token', async () => {
    const { signIn } = await scene({ now: () => 1_800_000_000_000 })
    const { status, body, set, cookie } = await signIn()
    expect([status, body]).toMatchObject([200, { user: 'ada', operator: false }])
    expect(set).toMatch(/; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(cookie).toMatch(/^millrace-8000=/)
    expect(Buffer.from(cookie.split('=')[1] ?? '', 'base64url').toString()).not.toContain(token)
  })

  test('over https the cookie is for https only, and under a prefix for the prefix only', async () => {
    const { signIn } = await scene({ basePath: '/mill' })
    const { set } = await signIn({ authorization: `Bearer ${token}`, origin: 'https://localhost:8000' })
    expect(set).toMatch(/; Path=\/mill; HttpOnly; SameSite=Strict; Secure$/)
  })

  test('reads, acts and streams with the cookie alone', async () => {
    const { ask, signIn } = await scene()
    const { cookie } = await signIn()
    expect((await ask('GET', '/me', { cookie })).json()).toMatchObject({ user: 'ada' })
    expect((await ask('POST', '/sessions', { cookie, ...own })).statusCode).toBe(201)
    const source = { cookie, 'sec-fetch-site': 'same-origin', accept: 'text/event-stream' }
    const stream = await ask('GET', '/api/projects/echo/stream?input=hi&session_id=s', source)
    expect([stream.statusCode, stream.body]).toEqual([200, expect.stringContaining('hello')])
    const joined = await ask('GET', '/sessions/s/events?dialect=adk&until=idle', { cookie })
    expect(joined.body).toContain('hello')
    expect((await ask('GET', '/sessions/s/log', { cookie })).headers['cache-control']).toBe('no-store')
  })

  test.each<[string, 'GET' | 'POST', string, Record<string, string>]>([
    ['a POST without a sign of our page', 'POST', '/sessions', {}],
    ['a form of a page on another port', 'POST', '/sessions', { origin: 'http://localhost:3000' }],
    ['a page of a site that may call with a token', 'POST', '/sessions', { origin: 'http://localhost:4000' }],
    ['an image over plain http', 'GET', '/api/projects/echo/stream?input=hi&session_id=x', {}],
    ['a link out of a mail', 'GET', '/api/projects/echo/stream?input=hi&session_id=x', { 'sec-fetch-site': 'none' }],
    ['an image on another port', 'GET', '/sessions', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }],
    ['an image that would cancel', 'GET', '/sessions/mine/events?disconnect=cancel', {}],
  ])('%s does nothing with the cookie', async (_name, method, url, headers) => {
    const tokens = new Map([[token, 'ada']])
    const { server, ask, signIn } = await scene({ access: { tokens, origins: ['http://localhost:4000'] } })
    await server.app.inject({
      method: 'POST',
      url: '/sessions',
      headers: { host: 'localhost', authorization: `Bearer ${token}` },
      payload: { id: 'mine' },
    })
    const { cookie } = await signIn()
    expect((await ask(method, url, { cookie, ...headers })).statusCode).toBe(403)
    expect((await server.log.list({})).total).toBe(1)
  })

  test('our page may act over plain http, by a header that other pages cannot send', async () => {
    const { ask, signIn } = await scene()
    const { cookie } = await signIn()
    expect((await ask('POST', '/sessions', { cookie, 'x-requested-with': 'millrace' })).statusCode).toBe(201)
  })

  test('a wrong token in Authorization is refused, whatever the cookie says', async () => {
    const { ask, signIn } = await scene()
    const { cookie } = await signIn()
    expect((await ask('GET', '/me', { cookie, authorization: 'Bearer wrong' })).statusCode).toBe(401)
  })

  test.each([
    ['of an allowed origin, with the cookie', { origin: 'http://localhost:4000' }, 403],
    ['of an allowed origin, without it', { origin: 'http://localhost:4000', cookie: '' }, 401],
    ['of any other origin', { origin: 'http://localhost:5000' }, 403],
  ])('an EventSource %s gets no stream', async (_name, headers, status) => {
    const tokens = new Map([[token, 'ada']])
    const { server, ask, signIn } = await scene({ access: { tokens, origins: ['http://localhost:4000'] } })
    const { cookie } = await signIn()
    await ask('POST', '/sessions', { cookie, ...own })
    const [session] = (await server.log.list({})).sessions
    const sent = { cookie, accept: 'text/event-stream', 'sec-fetch-site': 'same-site', ...headers }
    const answer = await ask('GET', `/sessions/${idInKey(session?.id ?? '')}/events?until=idle`, sent)
    expect(answer.statusCode).toBe(status)
  })

  test('wrong tokens are counted: after too many in a minute none is looked at', async () => {
    const clock = { now: 1_800_000_000_000 }
    const { server, ask, signIn } = await scene({ now: () => clock.now })
    const { cookie } = await signIn()
    const guess = async (from: string, sent = 'a-guess') => {
      const headers = { host: 'localhost:8000', ...own, authorization: `Bearer ${sent}` }
      return server.app.inject({ method: 'POST', url: '/sign-in', headers, remoteAddress: from })
    }
    for (let i = 0; i < 20; i += 1) expect((await guess('10.0.0.1')).statusCode).toBe(401)
    const refused = await guess('10.0.0.1', token)
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '60'])
    expect((await guess('10.0.0.2', token)).statusCode).toBe(200)
    for (let i = 0; i < 180; i += 1) await guess(`10.0.1.${i}`)
    clock.now += 20_000
    const all = await guess('10.0.0.2', token)
    expect([all.statusCode, all.headers['retry-after']]).toEqual([429, '40'])
    // Browsers that have signed in, and clients with a token, go on.
    expect((await ask('GET', '/me', { cookie })).statusCode).toBe(200)
    expect((await ask('GET', '/me', { authorization: `Bearer ${token}` })).statusCode).toBe(200)
    clock.now += 40_000
    expect((await guess('10.0.0.1', token)).statusCode).toBe(200)
  })

  test('a cookie does not renew itself, and signing out removes it', async () => {
    const { ask, signIn } = await scene()
    const { cookie } = await signIn()
    expect((await signIn({ cookie })).status).toBe(400)
    const out = await ask('POST', '/sign-out', { cookie, ...own })
    expect(out.headers['set-cookie']).toMatch(/^millrace-8000=; Max-Age=0; Path=\/;/)
  })

  test('forged, changed and foreign cookies are refused', async () => {
    const { ask, signIn } = await scene()
    const { cookie } = await signIn()
    const [name, value = ''] = cookie.split('=')
    const [body = '', mac = ''] = value.split('.')
    const ticket = JSON.parse(Buffer.from(body, 'base64url').toString())
    const root = Buffer.from(JSON.stringify({ ...ticket, user: 'bob' })).toString('base64url')
    const foreign = await (await scene()).signIn()
    for (const bad of [`${root}.${mac}`, `${body}.`, `${body}`, `.${mac}`, `${value}.x`, '', 'null.null'])
      expect((await ask('GET', '/me', { cookie: `${name}=${bad}` })).statusCode, bad).toBe(401)
    expect((await ask('GET', '/me', { cookie: foreign.cookie })).statusCode).toBe(401)
    expect((await ask('GET', '/me', { cookie: cookie.replace('8000', '9000') })).statusCode).toBe(401)
  })

  test('a restart with the same key keeps browsers signed in, unless their token was taken away', async () => {
    const ticketKey = randomBytes(32)
    const tokens = new Map([[token, 'ada']])
    const { cookie } = await (await scene({ access: { tokens, ticketKey } })).signIn()
    const again = await scene({ access: { tokens, ticketKey } })
    expect((await again.ask('GET', '/me', { cookie })).statusCode).toBe(200)
    const without = await scene({ access: { tokens: new Map([['another-token', 'ada']]), ticketKey } })
    expect((await without.ask('GET', '/me', { cookie })).statusCode).toBe(401)
  })

  test('an operator who is one no longer is none with an old cookie either', async () => {
    const ticketKey = randomBytes(32)
    const tokens = new Map([[token, 'ada']])
    const first = await scene({ access: { tokens, ticketKey, operators: ['ada'] } })
    const { cookie } = await first.signIn()
    expect((await first.ask('GET', '/metrics', { cookie })).statusCode).toBe(200)
    const second = await scene({ access: { tokens, ticketKey } })
    expect((await second.ask('GET', '/metrics', { cookie })).statusCode).toBe(403)
  })

  test('a cookie ends after twelve hours, and never outlives the JWT that it came from', async () => {
    const clock = { now: 1_800_000_000_000 }
    const issuer = await tokenIssuer(() => clock.now)
    closers.push(() => issuer.close())
    const { jwks, issuer: iss, audience } = issuer
    const access = { tokens: new Map([[token, 'ada']]), jwt: { jwks, issuer: iss, audience, clockSkew: 0 } }
    const { ask, signIn } = await scene({ access, now: () => clock.now })
    const [long, short] = [await signIn(), await signIn({ authorization: `Bearer ${await issuer.sign()}` })]
    const statuses = async () => [
      (await ask('GET', '/me', { cookie: long.cookie })).statusCode,
      (await ask('GET', '/me', { cookie: short.cookie })).statusCode,
    ]
    expect(await statuses()).toEqual([200, 200])
    clock.now += 3_600_000
    expect(await statuses()).toEqual([200, 401])
    clock.now += 11 * 3_600_000
    expect(await statuses()).toEqual([401, 401])
  })

  test('SPEC 6.5: a stream that follows a session ends with the proof that opened it', async () => {
    // Fifty milliseconds before the end of the token.
    const clock = { now: 1_800_000_000_000 - 50 }
    const issuer = await tokenIssuer(() => clock.now)
    closers.push(() => issuer.close())
    const { jwks, issuer: iss, audience } = issuer
    const { server } = await scene({
      access: { jwt: { jwks, issuer: iss, audience, clockSkew: 0 } },
      now: () => clock.now,
    })
    const authorization = `Bearer ${await issuer.sign()}`
    await server.app.inject({
      method: 'POST',
      url: '/sessions',
      headers: { host: 'localhost', authorization },
      payload: { id: 's' },
    })
    const address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    const follow = async (exp: number) =>
      fetch(`${address}/sessions/s/events`, { headers: { authorization: `Bearer ${await issuer.sign({ exp })}` } })
    const stream = await follow(1_800_000_000)
    expect(stream.status).toBe(200)
    await expect(stream.text()).rejects.toThrow()
    clock.now += 50
    expect((await follow(1_800_000_000)).status).toBe(401)
    const fresh = await follow(1_800_003_600)
    expect(fresh.status).toBe(200)
    await fresh.body?.cancel()
  })
})

test('without tokens nobody signs in, and the one person is told so', async () => {
  const { signIn } = await scene({ access: {} })
  const { body, set } = await signIn({})
  expect([body, set]).toEqual([{ user: 'user', operator: true }, ''])
})
