import { afterAll, describe, expect, test } from 'vitest'
import { type Operation, operationsOf, requestFor } from '../kit/api-requests.ts'
import { apiAgents, type Sample, samples } from '../kit/api-samples.ts'
import { testServer } from '../kit/server.ts'
import { tokenIssuer } from '../kit/token-issuer.ts'

/**
 * Every operation of the OpenAPI document × no user, bad proofs, another user by each kind of proof, an operator. The
 * rows come from the document, so a route that is added tomorrow is in the matrix by itself.
 */
const issuer = await tokenIssuer()
const proxy = { secret: 'the-secret-of-the-proxy' }
const server = await testServer({
  with: apiAgents,
  fallback: 'echo',
  limits: { shares: { starts: { user: 100_000 } } },
  access: {
    tokens: new Map([
      ['a-token-of-the-owner', 'user'],
      ['a-token-of-bob', 'bob'],
      ['a-token-of-ops', 'ops'],
    ]),
    jwt: { jwks: issuer.jwks, issuer: issuer.issuer, audience: issuer.audience },
    proxy,
    operators: ['ops'],
  },
})
const address = await server.app.listen({ port: 0, host: '127.0.0.1' })
afterAll(async () => {
  await server.close(0)
  issuer.close()
})

type Proof = Readonly<Record<string, string>>

async function ask(proof: Proof, { method, at, body, headers = {} }: Sample) {
  const answer = await fetch(`${address}${at}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers, ...proof },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  return { status: answer.status, text: await answer.text() }
}

const bearer = (token: string): Proof => ({ authorization: `Bearer ${token}` })
const ownerProof = bearer('a-token-of-the-owner')
/** What the owner has: a word that must not appear in any answer to others. */
const secret = 'secret-of-the-owner'
const ids = ['any', 'plan', 'other', 'adk', 'forked', 'asked', 'studio', 'ev']

for (const sample of samples) if (sample.method !== 'DELETE') await ask(ownerProof, sample)
await ask(ownerProof, {
  method: 'POST',
  path: '/',
  at: '/',
  body: { threadId: 'any', runId: 'secret', messages: [{ id: 's', role: 'user', content: secret }] },
})
for (const at of ['/sessions/plan', '/sessions/adk'])
  await ask(ownerProof, { method: 'PATCH', path: '', at, body: { title: secret } })
await ask(ownerProof, { method: 'POST', path: '', at: '/sessions/plan/tasks', body: { title: secret, order: 9 } })

const signIn = await fetch(`${address}/sign-in`, { method: 'POST', headers: bearer('a-token-of-bob') })
const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? ''
const page = { origin: address, 'sec-fetch-site': 'same-origin' }
const proxied = (user: string, word: string): Proof => ({ 'x-millrace-proxy-secret': word, 'x-forwarded-user': user })
const seconds = Math.floor(Date.now() / 1000)

const others: Readonly<Record<string, Proof>> = {
  token: bearer('a-token-of-bob'),
  JWT: bearer(await issuer.sign({ sub: 'bob' })),
  cookie: { cookie, ...page },
  proxy: proxied('bob', proxy.secret),
}
const bad: Readonly<Record<string, Proof>> = {
  nothing: {},
  'an unknown token': bearer('a-token-of-nobody'),
  'an empty token': { authorization: 'Bearer ' },
  'a token without its scheme': { authorization: 'a-token-of-the-owner' },
  'another scheme': { authorization: `Basic ${Buffer.from('user:a-token-of-the-owner').toString('base64')}` },
  'a JWT that has expired': bearer(await issuer.sign({ sub: 'user', exp: seconds - 60 })),
  'a JWT for another service': bearer(await issuer.sign({ sub: 'user', aud: 'payroll' })),
  'a JWT of another key': bearer(await issuer.sign({ sub: 'user' }, await issuer.stranger())),
  'a forged cookie': {
    cookie: `${cookie.split('=')[0]}=${Buffer.from('{"user":"user"}').toString('base64url')}.x`,
    ...page,
  },
  'a proxy without its secret': { 'x-forwarded-user': 'user' },
  'a proxy with another secret': proxied('user', 'a-guess-of-the-secret'),
}

await server.app.ready()
const operations = operationsOf(server.app.swagger())
const named = (operation: Operation) => ({ name: `${operation.method} ${operation.path}`, operation })

/** Everything that the owner has, as far as anything about it could change. */
const possessions = async (): Promise<string> => {
  const { sessions } = await server.log.list({ user: 'user', limit: 500 })
  const sets = await ask(ownerProof, { method: 'GET', path: '', at: '/dev/apps/echo/eval_sets' })
  return JSON.stringify([sessions, sets.text])
}
/** The same request about a session that nobody has. */
const unknownOf = (sample: Sample, unknown: string): Sample => {
  const inBody = JSON.stringify(sample.body ?? '')
  const [id] = [...sample.at.split(/[/?&=]/), ...inBody.split('"')].filter((part) => ids.includes(part))
  const swap = (text: string): string => (id === undefined ? text : text.replace(new RegExp(`\\b${id}\\b`), unknown))
  const body = typeof sample.body === 'object' ? { body: JSON.parse(swap(inBody)) } : {}
  return { ...sample, at: swap(sample.at), ...body }
}
const blind = (text: string): string =>
  text.replaceAll(new RegExp(`\\b(${['none-\\d+', ...ids].join('|')})\\b`, 'g'), 'X')

test('the document has the routes, and the owner has something to lose', async () => {
  expect(operations.length).toBeGreaterThan(80)
  expect(operations.filter(({ open }) => open).map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/health', '/ready', '/openapi.json', '/docs']),
  )
  const { text } = await ask(ownerProof, { method: 'GET', path: '', at: '/sessions/any/log' })
  expect(text).toContain(secret)
  expect(await possessions()).toContain(secret)
})

describe('SPEC 6.2: identity matrix', () => {
  test.each(operations.map(named))('$name without a proof, or with a bad one', async ({ operation }) => {
    const before = await possessions()
    const request = requestFor(operation, 'any')
    const answers = Object.entries(bad).map(async ([what, proof]) => ({ what, ...(await ask(proof, request)) }))
    for (const { what, status, text } of await Promise.all(answers)) {
      if (operation.open) expect(status, what).toBeLessThan(300)
      else expect([status, text], what).toEqual([401, expect.stringContaining('unauthorized')])
      expect(text, what).not.toContain(secret)
    }
    expect(await possessions()).toBe(before)
  })

  test.each(operations.map(named))('$name as another user', async ({ operation }) => {
    const before = await possessions()
    const request = requestFor(operation, 'any')
    for (const [what, proof] of Object.entries(others)) {
      const { status, text } = await ask(proof, request)
      expect(status, `${what}: ${text}`).toBeLessThan(500)
      if (operation.operator) expect(status, what).toBe(403)
      expect(text, what).not.toContain(secret)
    }
    expect(await possessions()).toBe(before)
  })

  test.each(operations.map(named))('$name: another user’s session looks like none', async ({ operation }) => {
    // A new user and a new name each time: the operations that make what is not there have made the others.
    const none = `none-${operations.indexOf(operation)}`
    const newcomer = bearer(await issuer.sign({ sub: `newcomer-${none}` }))
    const request = requestFor(operation, 'any')
    const unknown = await ask(newcomer, unknownOf(request, none))
    // An operation that makes what is not there succeeds; what it must not do is in the rows above.
    if (unknown.status < 400) return
    const foreign = await ask(newcomer, request)
    expect([foreign.status, blind(foreign.text)]).toEqual([unknown.status, blind(unknown.text)])
  })

  const forOperator = operations.filter(({ operator, method }) => !(operator && method === 'DELETE'))
  test.each(forOperator.map(named))('$name as an operator', async ({ operation }) => {
    const before = await possessions()
    const { status, text } = await ask(bearer('a-token-of-ops'), requestFor(operation, 'any'))
    // Contents need a grant by name, which this operator does not have.
    const isContents = operation.path.endsWith('/sessions/{id}/log')
    if (operation.operator) expect(status).toBe(isContents ? 403 : 200)
    expect(status).toBeLessThan(500)
    expect(text).not.toContain(secret)
    expect(await possessions()).toBe(before)
  })
})
