import { sessionKey } from '@millrace/core/store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiAgents, type Sample, samples } from '../kit/api-samples.ts'
import { testServer } from '../kit/server.ts'

/** SPEC 6.2 over every operation of the API: what one user has, another can neither read nor change, nor see that it exists. */
const owner = 'a-token-of-the-owner'
const other = 'a-token-of-another'
const maker = 'a-token-of-a-third'

/** They make what is not there: a session of the user who asks, under the same id. */
const makers = new Set([
  'POST /',
  'POST /ag-ui/{agent}',
  'POST /sessions',
  'POST /sessions/{id}/runs',
  'POST /api/projects/{id}/stream',
  'GET /api/projects/{id}/stream',
  'POST /apps/{app}/users/{user}/sessions/{id}',
])

describe('SPEC 6.2: another user', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  const ask = async (token: string, { method, at, body, headers = {} }: Sample) => {
    const answer = await fetch(`${address}${at}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const ids = ['any', 'plan', 'other', 'adk', 'forked', 'asked', 'studio', 'ev']
  const name = ({ method, path }: Sample): string => `${method} ${path}`
  /** The session (or the event of one) that a request is about, wherever it names it. */
  const sessionOf = ({ at, body }: Sample): string | undefined => {
    const named = (typeof body === 'object' ? body : {}) as Record<string, unknown>
    const inBody = [named.threadId, named.sessionId, named.session_id, named.id].find((id) => ids.includes(String(id)))
    const inPath = at.split(/[/?&=]/).find((part) => ids.includes(part))
    return (inPath ?? inBody) as string | undefined
  }
  const about = samples.filter((sample) => sessionOf(sample) !== undefined)
  const asUnknown = (sample: Sample): Sample => {
    const id = sessionOf(sample) ?? ''
    const swap = (text: string): string => text.replace(new RegExp(`\\b${id}\\b`), 'unknown-session')
    return {
      ...sample,
      at: swap(sample.at),
      ...(typeof sample.body === 'object' ? { body: JSON.parse(swap(JSON.stringify(sample.body))) } : {}),
    }
  }

  beforeAll(async () => {
    const tokens = new Map([
      [owner, 'user'],
      [other, 'bob'],
      [maker, 'carol'],
    ])
    server = await testServer({
      with: apiAgents,
      fallback: 'echo',
      access: { tokens, operators: ['user'], contentOperators: ['user'] },
    })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    // A session that is deleted with undo is brought back by the next sample.
    for (const sample of samples)
      if (sample.method !== 'DELETE' || sample.at.includes('undo=true'))
        expect((await ask(owner, sample)).status, name(sample)).toBeLessThan(300)
  })
  afterAll(() => server.close(0))

  test('the table leaves no operation on a session out', () => {
    const { paths } = server.app.swagger() as { paths: Record<string, Record<string, unknown>> }
    const onSessions = Object.entries(paths).flatMap(([path, methods]) =>
      /sessions\/\{id\}|\{session\}|^\/run/.test(path)
        ? Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
        : [],
    )
    expect(onSessions.length).toBeGreaterThan(40)
    expect(onSessions.filter((operation) => !about.some((sample) => name(sample) === operation))).toEqual([])
  })

  test.each(about.map((sample) => ({ what: `${sample.method} ${sample.at}`, sample })))('$what', async ({ sample }) => {
    const key = sessionKey('user', sessionOf(sample) ?? '')
    const before = await server.log.get(key)
    if (makers.has(name(sample))) {
      // A path that names the owner is not found; in all others the id is free for every user.
      const { status } = await ask(maker, sample)
      expect(status).toBeOneOf(sample.at.includes('/users/user/') ? [404] : [200, 201])
    } else {
      const foreign = await ask(other, sample)
      // The routes of operators are refused as a whole, whatever they are about.
      expect(foreign.status).toBe(sample.path.startsWith('/operator/') ? 403 : 404)
      expect(foreign.text).not.toMatch(/You said|Write notes|# Notes|heard/)
      const unknown = await ask(other, asUnknown(sample))
      expect(unknown.status).toBe(foreign.status)
      expect(unknown.text.replaceAll('unknown-session', 'X')).toBe(
        foreign.text.replaceAll(sessionOf(sample) ?? '', 'X'),
      )
    }
    expect(await server.log.get(key)).toEqual(before)
  })

  test('nor by taking the owner’s name, nor with its own name on the owner’s session', async () => {
    for (const at of [
      '/apps/echo/users/user/sessions',
      '/apps/echo/users/user/sessions/adk',
      '/apps/echo/users/bob/sessions/adk',
    ])
      expect((await ask(other, { method: 'GET', path: '', at })).status, at).toBe(404)
    const body = { appName: 'echo', sessionId: 'adk', newMessage: { parts: [{ text: 'x' }] } }
    for (const userId of ['user', 'bob'])
      expect((await ask(other, { method: 'POST', path: '', at: '/run', body: { ...body, userId } })).status).toBe(404)
  })

  test('sees nothing in any list, and nothing without a token', async () => {
    const list = async (at: string) => JSON.parse((await ask(other, { method: 'GET', path: '', at })).text)
    expect(await list('/sessions')).toEqual({ sessions: [], total: 0 })
    expect(await list('/apps/echo/users/bob/sessions')).toEqual([])
    const open = ['/health', '/ready', '/docs', '/openapi.json']
    for (const { method, at } of samples) {
      const { status } = await fetch(`${address}${at}`, { method })
      expect(status, `${method} ${at}`).toBe(open.includes(at) ? 200 : 401)
    }
  })
})
