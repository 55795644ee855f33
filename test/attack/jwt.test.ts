import { SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, describe, expect, test } from 'vitest'
import { testServer } from '../kit/server.ts'
import { type TokenIssuer, tokenIssuer } from '../kit/token-issuer.ts'

/** Tokens of another issuer (JWT), verified against its published keys. The clock of the server is the test's. */
const start = 1_800_000_000_000
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function scene(jwt: object = {}, access: object = {}) {
  const clock = { now: start }
  const issuer = await tokenIssuer(() => clock.now)
  const { jwks, issuer: iss, audience } = issuer
  const server = await testServer({
    now: () => clock.now,
    access: { jwt: { jwks, issuer: iss, audience, cooldown: 0, ...jwt }, ...access },
  })
  closers.push(
    () => server.close(0),
    () => issuer.close(),
  )
  const ask = async (token: string, url = '/me') => {
    const headers = { host: 'localhost', authorization: `Bearer ${token}` }
    const answer = await server.app.inject({ url, headers })
    return { status: answer.statusCode, body: answer.body, headers: answer.headers }
  }
  return { issuer, ask, clock }
}

describe('SPEC 6.5: a JWT', () => {
  test('names its user, until it ends', async () => {
    const { issuer, ask } = await scene()
    const { status, body } = await ask(await issuer.sign())
    expect(status).toBe(200)
    expect(JSON.parse(body)).toEqual({ user: 'ada', operator: false, until: start + 3_600_000 + 30_000 })
  })

  test('may name its user in another claim, also in a nested one or one whose name is a URL', async () => {
    for (const [userClaim, claims] of [
      ['email', { email: 'ada@example.com' }],
      ['who.mail', { who: { mail: 'ada@example.com' } }],
      ['https://example.com/mail', { 'https://example.com/mail': 'ada@example.com' }],
    ] as const) {
      const { issuer, ask } = await scene({ userClaim })
      expect(JSON.parse((await ask(await issuer.sign(claims))).body)).toMatchObject({ user: 'ada@example.com' })
      expect((await ask(await issuer.sign())).body).toContain(`the token has no claim ${userClaim}`)
    }
  })

  const seconds = start / 1000
  type Make = (issuer: TokenIssuer) => Promise<string>
  const signed =
    (claims: Record<string, unknown>): Make =>
    (issuer) =>
      issuer.sign(claims)
  test.each<[string, Make, RegExp]>([
    ['that has expired', signed({ exp: seconds - 31 }), /has expired/],
    ['without an end', signed({ exp: undefined }), /"exp"/],
    ['that is not valid yet', signed({ nbf: seconds + 60 }), /"nbf"/],
    ['of another issuer', signed({ iss: 'https://evil.example' }), /"iss"/],
    ['without an issuer', signed({ iss: undefined }), /"iss"/],
    ['for another service', signed({ aud: 'payroll' }), /"aud"/],
    ['without an audience', signed({ aud: undefined }), /"aud"/],
    ['without a user', signed({ sub: undefined }), /no claim sub/],
    ['with a number as its user', signed({ userId: 7, sub: undefined }), /no claim sub/],
    ['with an empty user', signed({ sub: '' }), /the name of the user/],
    ['with a user of U+0000', signed({ sub: 'a\0' }), /the name of the user/],
    ['with a very long user', signed({ sub: 'a'.repeat(201) }), /the name of the user/],
    ['of a key that was never published', async (issuer) => issuer.sign({}, await issuer.stranger()), /not accepted/],
    [
      'without a signature',
      async ({ issuer, audience }) =>
        new UnsecuredJWT({ sub: 'ada', exp: seconds + 60 }).setIssuer(issuer).setAudience(audience).encode(),
      /unknown|not accepted/,
    ],
    [
      'signed with the public key as if it were a secret',
      async ({ issuer, audience, publicKey }) =>
        new SignJWT({ iss: issuer, aud: audience, sub: 'ada', exp: seconds + 60 })
          .setProtectedHeader({ alg: 'HS256', kid: '1' })
          .sign(new TextEncoder().encode(JSON.stringify(await publicKey()))),
      /not accepted/,
    ],
    [
      'whose user was changed',
      async (issuer) => {
        const [head, , mac] = (await issuer.sign()).split('.')
        const [, body] = (await issuer.sign({ sub: 'bob' })).split('.')
        return `${head}.${body}.${mac}`
      },
      /not accepted/,
    ],
    ['that is no JWT', async () => 'a.b.c', /not accepted/],
  ])('%s is refused', async (_name, make, reason) => {
    const { issuer, ask } = await scene()
    const { status, body, headers } = await ask(await make(issuer))
    expect(status, body).toBe(401)
    expect(JSON.parse(body).detail).toMatch(reason)
    expect(headers['www-authenticate']).toBe('Bearer')
  })

  test('the clocks may differ by half a minute', async () => {
    const { issuer, ask } = await scene()
    expect((await ask(await issuer.sign({ exp: seconds - 29 }))).status).toBe(200)
    expect((await ask(await issuer.sign({ nbf: seconds + 29 }))).status).toBe(200)
  })

  test('the issuer may change its keys: the new one is read, the old one ends', async () => {
    const { issuer, ask } = await scene()
    const old = await issuer.sign()
    expect((await ask(old)).status).toBe(200)
    expect((await ask(old)).status).toBe(200)
    expect(issuer.asked).toBe(1)
    await issuer.rotate()
    expect((await ask(await issuer.sign())).status).toBe(200)
    expect(issuer.asked).toBe(2)
    expect((await ask(old)).status).toBe(401)
  })

  test('keys that cannot be read are no fault of the user: 503, and other tokens still work', async () => {
    const { issuer, ask } = await scene({}, { tokens: new Map([['a-static-token', 'bob']]) })
    issuer.fail()
    const { status, headers } = await ask(await issuer.sign())
    expect(status).toBe(503)
    expect(headers['retry-after']).toBeDefined()
    expect(JSON.parse((await ask('a-static-token')).body)).toMatchObject({ user: 'bob' })
  })

  test('strangers do not make the server ask for keys: only what looks like a JWT does, and not at every request', async () => {
    const { issuer, ask } = await scene({ cooldown: 30_000 })
    for (let i = 0; i < 20; i += 1) expect((await ask(`no-jwt-${i}`)).status).toBe(401)
    expect(issuer.asked).toBe(0)
    await ask(await issuer.sign())
    const rotated = await tokenIssuer(() => start)
    closers.push(() => rotated.close())
    await rotated.rotate()
    for (let i = 0; i < 20; i += 1) expect((await ask(await rotated.sign())).status).toBe(401)
    expect(issuer.asked).toBe(1)
  })

  test.each([
    ['roles', { roles: ['millrace-operator', 'other'] }, true],
    ['roles', { roles: ['other'] }, false],
    ['scope', { scope: 'read millrace-operator' }, true],
    ['realm_access.roles', { realm_access: { roles: ['millrace-operator'] } }, true],
    ['roles', { roles: { 'millrace-operator': true } }, false],
  ])('a claim makes an operator: %s %j', async (claim, claims, operator) => {
    const { issuer, ask } = await scene({ operator: { claim, value: 'millrace-operator' } })
    const token = await issuer.sign(claims)
    expect(JSON.parse((await ask(token)).body)).toMatchObject({ operator })
    expect((await ask(token, '/metrics')).status).toBe(operator ? 200 : 403)
  })
})
