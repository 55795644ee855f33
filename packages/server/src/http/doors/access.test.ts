import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { type Access, guardAccess, userFor } from './access.ts'
import { openIdentities } from './identity.ts'
import { jsonDepth, readJsonBodies } from './json-body.ts'
import { sendProblem } from './problem.ts'

async function answer(access: Access, headers: Record<string, string>, url = '/x', method: 'GET' | 'POST' = 'GET') {
  const app = Fastify()
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
  guardAccess(app, access, openIdentities(access, Date.now), Date.now)
  const read = { config: { effect: { effect: 'read' } } } as const
  const start = { config: { effect: { effect: 'start' } } } as const
  app.get('/x', read, async (request) => ({ user: userFor(request) }))
  app.post('/x', start, async (request) => ({ user: userFor(request) }))
  app.get('/health', { config: { effect: { effect: 'read', open: true } } }, async () => ({ user: '' }))
  app.get('/api/run', start, async () => ({ user: '' }))
  const { statusCode, body } = await app.inject({ method, url, headers: { host: '127.0.0.1:8000', ...headers } })
  return { statusCode, body: JSON.parse(body) }
}

describe('SPEC 6.4: access', () => {
  test.each([
    ['loopback by name', { host: 'localhost:8000' }, 200],
    ['loopback by IPv6', { host: '[::1]:8000' }, 200],
    ['every address, which is not a name', { host: '0.0.0.0:8000' }, 403],
    ['every address in IPv6', { host: '[::]:8000' }, 403],
    ['an image on another port of this machine', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }, 403],
    ['a rebound name', { host: 'evil.example:8000' }, 403],
    ['a name that only starts like ours', { host: 'localhost.evil.example' }, 403],
    ['an invalid host', { host: 'a:b:c' }, 403],
    ['our own page', { origin: 'http://127.0.0.1:8000', 'sec-fetch-site': 'same-origin' }, 200],
    ['a page of another port', { origin: 'http://127.0.0.1:3000' }, 403],
    ['another site', { origin: 'https://evil.example' }, 403],
    ['a sandboxed frame', { origin: 'null' }, 403],
    ['an image on another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, 403],
    ['a tool without a browser', {}, 200],
  ])('%s', async (_name, headers, status) => {
    expect((await answer({}, headers)).statusCode).toBe(status)
  })

  test.each([
    ['/x', 200],
    ['/unknown', 404],
    ['/api/run', 403],
    ['/%61pi/run', 403],
    ['/api/r%75n', 403],
  ])('a link on another site to %s: %i', async (url, status) => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect((await answer({}, link, url)).statusCode).toBe(status)
  })

  test.each([
    ['a tool', {}, 200],
    ['a page', { origin: 'http://0.0.0.0:8000' }, 403],
    ['a page of another site', { origin: 'https://evil.example' }, 403],
    ['a browser that sends no Origin', { 'sec-fetch-site': 'same-origin' }, 403],
  ])('a POST to 0.0.0.0 by %s', async (_name, headers, status) => {
    expect((await answer({}, { host: '0.0.0.0:8000', ...headers }, '/x', 'POST')).statusCode).toBe(status)
  })

  test('0.0.0.0 and [::] are refused as a Host even when the server listens on them', async () => {
    for (const host of ['0.0.0.0', '[::]'])
      expect((await answer({ hosts: ['0.0.0.0', '[::]', 'mill.example'] }, { host })).statusCode).toBe(403)
    expect((await answer({ hosts: ['0.0.0.0', 'mill.example'] }, { host: 'mill.example' })).statusCode).toBe(200)
  })

  test('an allowed origin may call', async () => {
    const { statusCode } = await answer({ origins: ['http://localhost:3000'] }, { origin: 'http://localhost:3000' })
    expect(statusCode).toBe(200)
  })

  test('tokens bind a user; liveness stays open', async () => {
    const access = { tokens: new Map([['secret', 'ada']]) }
    expect((await answer(access, {})).statusCode).toBe(401)
    expect((await answer(access, { authorization: 'Bearer wrong' })).statusCode).toBe(401)
    expect((await answer(access, { authorization: 'Bearer secret' })).body).toEqual({ user: 'ada' })
    expect((await answer(access, {}, '/health')).statusCode).toBe(200)
  })
})

describe('SPEC 6.3: JSON bodies', () => {
  test.each([
    ['deep', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['broken', '{"a":'],
    ['prototype', '{"__proto__":{"admin":true}}'],
    ['constructor', '{"constructor":{"prototype":{"admin":true}}}'],
    ['bad UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ])('%s is a 400', async (_name, payload) => {
    const app = Fastify()
    app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
    readJsonBodies(app)
    app.post('/', async ({ body }) => body)
    const reply = await app.inject({
      method: 'POST',
      url: '/',
      headers: { 'content-type': 'application/json' },
      payload,
    })
    expect(reply.statusCode).toBe(400)
    expect(reply.json()).toMatchObject({ code: 'invalid', status: 400 })
  })

  test('brackets in strings are not depth', () => {
    expect(jsonDepth('{"a":"[[[[\\"[[[","b":[{}]}')).toBe(3)
  })
})
