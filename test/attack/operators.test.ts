import type { AuditEntry } from '@millrace/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiAgents } from '../kit/api-samples.ts'
import { scriptedAgent } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { aborted } from '../kit/waiting.ts'

/** Two roles: users have their own sessions, operators see figures of all users and may delete one; never contents. */
const worker = scriptedAgent('worker', async function* (_input, { signal }) {
  yield { kind: 'log', level: 'info', message: 'at work' }
  await aborted(signal)
})
const adkPath = (user: string, id: string): string => `/apps/echo/users/${user}/sessions/${id}`
const tokens = new Map(['ada', 'bob', 'ops', 'auditor'].map((user) => [`a-token-of-${user}`, user]))

describe('SPEC 6.7: roles', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  const audit: AuditEntry[] = []
  const ask = async (user: string, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) => {
    const headers = { host: 'localhost', authorization: `Bearer a-token-of-${user}` }
    const answer = await server.app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })
    return { status: answer.statusCode, body: answer.body }
  }
  beforeAll(async () => {
    const onAudit = (entry: AuditEntry): void => void audit.push(entry)
    server = await testServer({
      with: [...apiAgents, worker],
      fallback: 'echo',
      access: { tokens, operators: ['ops', 'auditor'], contentOperators: ['auditor', 'ada'] },
      onAudit,
    })
    for (const user of ['ada', 'bob']) {
      const messages = [{ id: 'm', role: 'user', content: `a secret of ${user}` }]
      await ask(user, 'POST', '/ag-ui/echo', { threadId: `${user}-1`, runId: 'r', messages })
      await ask(user, 'POST', adkPath(user, `${user}-2`), {})
      await ask(user, 'PATCH', adkPath(user, `${user}-2`), { stateDelta: { 'user:name': `a secret of ${user}` } })
      await ask(user, 'POST', '/dev/apps/echo/eval-sets', { eval_set: { eval_set_id: 'set', eval_cases: [] } })
    }
  })
  afterAll(() => server.close(0))

  test('an operator sees how much users have, and no word of what they wrote', async () => {
    const users = await ask('ops', 'GET', '/operator/users')
    expect(JSON.parse(users.body)).toMatchObject({
      users: [
        { user: 'ada', sessions: 2 },
        { user: 'bob', sessions: 2 },
      ],
      total: 2,
    })
    const sessions = await ask('ops', 'GET', '/operator/sessions')
    expect(JSON.parse(sessions.body)).toMatchObject({ total: 4 })
    const ofBob = JSON.parse((await ask('ops', 'GET', '/operator/sessions?user=bob&limit=1')).body)
    expect([ofBob.total, ofBob.sessions.length, ofBob.sessions[0].user]).toEqual([2, 1, 'bob'])
    const metrics = await ask('ops', 'GET', '/metrics')
    for (const { status, body } of [users, sessions, metrics]) {
      expect(status).toBe(200)
      expect(body).not.toContain('secret')
    }
  })

  test.each(['/sessions/ada-1', '/sessions/ada-1/log', '/sessions/ada-1/state', '/sessions/ada-1/views/transcript'])(
    'an operator does not read %s',
    async (url) => {
      expect((await ask('ops', 'GET', url)).status).toBe(404)
    },
  )

  test.each([
    ['GET', '/operator/users'],
    ['GET', '/operator/sessions'],
    ['GET', '/metrics'],
    ['DELETE', '/operator/users/bob'],
    ['DELETE', '/operator/users/ada'],
  ] as const)('a user may not %s %s', async (method, url) => {
    const { status, body } = await ask('ada', method, url)
    expect([status, body]).toEqual([403, expect.stringContaining('only operators')])
  })

  test('the audit says who read, changed and tried what, without contents', async () => {
    audit.length = 0
    await ask('ada', 'GET', '/sessions/ada-1/state')
    await ask('ada', 'POST', '/sessions/ada-1/cancel', {})
    await ask('ada', 'GET', '/sessions/bob-1/log')
    await ask('ops', 'GET', '/operator/users')
    await ask('ops', 'GET', '/metrics')
    await ask('ada', 'GET', '/sessions')
    const entries = audit.map(({ at: _, ...entry }) => entry)
    expect(entries).toEqual([
      { action: 'request.read', user: 'ada', route: 'GET /sessions/:id/state', status: 200, session: 'ada-1' },
      { action: 'request.change', user: 'ada', route: 'POST /sessions/:id/cancel', status: 200, session: 'ada-1' },
      { action: 'request.refuse', user: 'ada', route: 'GET /sessions/:id/log', status: 404 },
      { action: 'request.read', user: 'ops', route: 'GET /operator/users', status: 200 },
    ])
  })

  test('an operator reads contents only where that was granted, and the audit says so', async () => {
    const url = '/operator/users/bob/sessions/bob-1/log'
    audit.length = 0
    expect([await ask('ops', 'GET', url), await ask('ada', 'GET', url), await ask('bob', 'GET', url)]).toMatchObject([
      { status: 403, body: expect.stringContaining('--operator-contents') },
      { status: 403, body: expect.stringContaining('only operators') },
      { status: 403, body: expect.stringContaining('only operators') },
    ])
    expect(audit.map(({ action }) => action)).toEqual(['request.refuse', 'request.refuse', 'request.refuse'])
    const { status, body } = await ask('auditor', 'GET', url)
    expect([status, body.split('\n').length > 3]).toEqual([200, true])
    expect(body).toContain('a secret of bob')
    expect(audit).toContainEqual(
      expect.objectContaining({ action: 'contents.read', user: 'auditor', owner: 'bob', session: 'bob-1' }),
    )
    // The grant is for reading only, and names the owner: ids are a user's own.
    expect((await ask('auditor', 'GET', '/operator/users/ada/sessions/bob-1/log')).status).toBe(404)
    expect((await ask('auditor', 'GET', '/sessions/bob-1/log')).status).toBe(404)
    expect((await ask('auditor', 'DELETE', '/sessions/bob-1')).status).toBe(404)
  })

  test('a stream is in the audit as soon as it opens', async () => {
    const address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    audit.length = 0
    const headers = { authorization: 'Bearer a-token-of-ada' }
    const stream = await fetch(`${address}/sessions/ada-1/events`, { headers })
    expect(audit).toMatchObject([{ action: 'request.read', user: 'ada', session: 'ada-1', status: 200 }])
    await stream.body?.cancel()
  })

  test('an operator deletes everything of a user, and nothing of another', async () => {
    audit.length = 0
    const { status, body } = await ask('ops', 'DELETE', '/operator/users/bob')
    expect([status, JSON.parse(body)]).toEqual([200, { sessions: 2 }])
    expect((await server.log.users({})).users.map(({ user }) => user)).toEqual(['ada'])
    const fresh = async (user: string) => (await ask(user, 'POST', adkPath(user, `${user}-3`), {})).body
    expect(await fresh('bob')).not.toContain('secret')
    expect(await fresh('ada')).toContain('a secret of ada')
    expect(JSON.parse((await ask('bob', 'GET', '/dev/apps/echo/eval_sets')).body)).toEqual([])
    expect(JSON.parse((await ask('ada', 'GET', '/dev/apps/echo/eval_sets')).body)).toEqual(['set'])
    expect(audit).toContainEqual(expect.objectContaining({ action: 'user.delete', user: 'ops', owner: 'bob' }))
    expect(JSON.parse((await ask('ops', 'DELETE', '/operator/users/nobody')).body)).toEqual({ sessions: 0 })
  })

  test('a user at work is deleted, too: active runs are cancelled first', async () => {
    await ask('bob', 'POST', '/sessions/at-work/runs', { agent: 'worker', input: { messages: [] } })
    expect(JSON.parse((await ask('bob', 'GET', '/sessions/at-work')).body)).toMatchObject({ run: 'running' })
    expect(JSON.parse((await ask('ops', 'DELETE', '/operator/users/bob')).body)).toEqual({ sessions: 2 })
    expect((await ask('bob', 'GET', '/sessions/at-work')).status).toBe(404)
    expect(server.engine.active).toBe(0)
  })
})

test('without tokens the one person is the operator', async () => {
  const server = await testServer({ with: apiAgents })
  const answer = await server.app.inject({ url: '/operator/users', headers: { host: 'localhost' } })
  expect(answer.json()).toEqual({ users: [], total: 0 })
  await server.close(0)
})
