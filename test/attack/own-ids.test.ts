import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sessionKey } from '@millrace/core/store'
import { type SqliteLog, sqliteLog } from '@millrace/server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { scriptedAgent, speech, textOf } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

/** The sessions that agents were called with, by what was said to them. */
const called = new Map<string, string>()
const echo = scriptedAgent('echo', function* (input, { session }) {
  called.set(textOf(input), session)
  yield* speech('echo', `You said ${textOf(input)}`)
})
const planner = scriptedAgent('planner', function* (input) {
  yield* speech('chat', `You said ${textOf(input)}`)
  yield { kind: 'tasks', tasks: [{ id: 'one', title: textOf(input), status: 'pending', order: 0 }] }
})
const patient = scriptedAgent('patient', async function* (_input, { signal }) {
  yield* speech('patient', 'waiting')
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
})

const users = ['ada', 'bob'] as const
const tokens = new Map(users.map((user) => [`${user}-token-0123456789`, user]))

describe('SPEC 6.8: two users have sessions of the same id', () => {
  let folder: string
  let log: SqliteLog
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-own-ids-'))
    log = await sqliteLog({ folder, now: Date.now, owned: true })
    server = await testServer({ log, with: [echo, planner, patient], fallback: 'echo', access: { tokens } })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    await server.close(0)
    await log.close()
    await rm(folder, { recursive: true })
  })

  const send = (user: string, method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${user}-token-0123456789`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  const ask = async (user: string, method: string, path: string, body?: unknown): Promise<string> => {
    const answer = await send(user, method, path, body)
    const text = await answer.text()
    expect(answer.status, `${user}: ${method} ${path}: ${text}`).toBeLessThan(300)
    return text
  }
  const said = (user: string) => `hello from ${user}`
  const agUi = (user: string, threadId: string) => ({
    threadId,
    runId: `run-of-${user}`,
    messages: [{ id: '1', role: 'user', content: said(user) }],
  })
  const adkMessage = (user: string, sessionId: string) => ({
    appName: 'echo',
    userId: user,
    sessionId,
    newMessage: { parts: [{ text: said(user) }] },
  })

  /** Each makes the session `id` as one user, and reads it back. */
  const surfaces: Readonly<Record<string, (user: string, id: string) => Promise<string>>> = {
    REST: async (user, id) => {
      await ask(user, 'POST', '/sessions', { id, title: said(user) })
      const input = { messages: [{ id: '1', role: 'user', content: { parts: [{ text: said(user) }] } }] }
      await ask(user, 'POST', `/sessions/${id}/runs`, { agent: 'echo', input })
      return (await ask(user, 'GET', `/sessions/${id}`)) + (await ask(user, 'GET', `/sessions/${id}/events?until=idle`))
    },
    'AG-UI': async (user, id) => {
      const text = await ask(user, 'POST', '/ag-ui/echo', agUi(user, id))
      expect(text).toContain(`"threadId":"${id}"`)
      return text
    },
    'ADK sessions': async (user, id) => {
      await ask(user, 'POST', `/apps/echo/users/${user}/sessions/${id}`, { state: { mine: said(user) } })
      const text = await ask(user, 'POST', '/run_sse', adkMessage(user, id))
      return text + (await ask(user, 'GET', `/apps/echo/users/${user}/sessions/${id}`))
    },
    Studio: async (user, id) => {
      const text = await ask(user, 'POST', '/api/projects/echo/stream', { input: said(user), session_id: id })
      expect(text).toContain(id)
      return text
    },
    plan: async (user, id) => {
      await ask(user, 'POST', '/sessions', { id, agent: 'planner' })
      const text = await ask(user, 'POST', `/sessions/${id}/chat`, { message: said(user) })
      return text + (await ask(user, 'GET', `/sessions/${id}/tasks`))
    },
    import: async (user, id) => {
      await ask(user, 'POST', '/ag-ui/echo', agUi(user, `${id}-origin`))
      const file = await ask(user, 'GET', `/sessions/${id}-origin/log`)
      const answer = await fetch(`${address}/sessions/import?id=${id}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${user}-token-0123456789`, 'content-type': 'application/x-ndjson' },
        body: file,
      })
      expect(answer.status).toBe(201)
      return file + (await ask(user, 'GET', `/sessions/${id}/log`))
    },
    fork: async (user, id) => {
      await ask(user, 'POST', '/ag-ui/echo', agUi(user, `${id}-source`))
      const text = await ask(user, 'POST', `/sessions/${id}-source/fork`, { id })
      expect(JSON.parse(text)).toMatchObject({ id, user, forkOf: { session: `${id}-source` } })
      return text + (await ask(user, 'GET', `/sessions/${id}/log`))
    },
  }

  test.each(Object.keys(surfaces))('%s: each has their own, and none of the other', async (name) => {
    const id = `t-${name.replace(/\W/g, '')}`
    for (const user of users) {
      const text = (await surfaces[name]?.(user, id)) ?? ''
      expect(text).toContain(said(user))
      expect(text).not.toContain(said(user === 'ada' ? 'bob' : 'ada'))
      // No answer has the key under which the log keeps the session.
      expect(text).not.toContain('\\u001f')
    }
    for (const user of users) {
      const { sessions } = JSON.parse(await ask(user, 'GET', `/sessions?search=${id}&limit=500`))
      expect(sessions.filter((session: { id: string }) => session.id === id)).toMatchObject([{ id, user }])
    }
  })

  test('an agent and the servers behind it never see the same session for both', async () => {
    for (const user of users) await ask(user, 'POST', '/ag-ui/echo', agUi(user, 'same'))
    expect(called.get(said('ada'))).not.toBe(called.get(said('bob')))
  })

  test('no one cancels, renames, follows or deletes the other’s by its id', async () => {
    for (const user of users) {
      const input = { messages: [{ id: user, role: 'user', content: { parts: [{ text: 'wait' }] } }] }
      await ask(user, 'POST', '/sessions/live/runs', { agent: 'patient', input })
    }
    expect(JSON.parse(await ask('bob', 'POST', '/sessions/live/cancel', {}))).toEqual({ cancelled: true })
    await ask('bob', 'PATCH', '/sessions/live', { title: 'of bob' })
    await ask('bob', 'DELETE', '/sessions/live')
    const mine = await log.get(sessionKey('ada', 'live'))
    expect(mine).toMatchObject({ status: 'running', title: 'wait', user: 'ada' })
    expect((await send('bob', 'GET', '/sessions/live')).status).toBe(404)
    await ask('ada', 'POST', '/sessions/live/cancel', {})
  })

  test('a user is told that an id is taken only by a session of their own, in their own words', async () => {
    await ask('ada', 'POST', '/sessions', { id: 'mine' })
    const again = await send('ada', 'POST', '/sessions', { id: 'mine' })
    expect(again.status).toBe(409)
    expect(await again.json()).toMatchObject({ detail: 'session mine exists' })
    expect((await send('bob', 'POST', '/sessions', { id: 'mine' })).status).toBe(201)
    expect((await send('bob', 'POST', '/sessions', { id: 'ada\u001fmine' })).status).toBe(400)
    expect((await send('bob', 'GET', `/sessions/${encodeURIComponent('ada\u001fmine')}`)).status).toBe(400)
  })
})

describe('a file that was written before', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-keys-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  const open = (owned?: boolean) => sqliteLog({ folder, now: Date.now, ...(owned === undefined ? {} : { owned }) })
  const ids = async (log: SqliteLog) => (await log.list({})).sessions.map(({ id, user }) => [user, id]).sort()
  const draft = { run: '', event: { kind: 'log', level: 'info', message: 'x' } } as const

  test('keeps its sessions under their ids, with users and without', async () => {
    const old = await open()
    await old.create({ id: 't1', user: 'ada', agent: 'echo' })
    await old.create({ id: 't2', user: 'user', agent: 'echo' })
    await old.append('t1', [draft])
    await old.close()

    const owned = await open(true)
    expect(await owned.get(sessionKey('ada', 't1'))).toMatchObject({ user: 'ada', lastSeq: 1 })
    expect(await owned.read(sessionKey('ada', 't1'), { after: 0 })).toHaveLength(1)
    const server = await testServer({ log: owned, with: [echo], access: { tokens } })
    const list = async (user: string) =>
      (
        await server.app.inject({ url: '/sessions', headers: { authorization: `Bearer ${user}-token-0123456789` } })
      ).json()
    expect(await list('ada')).toMatchObject({ sessions: [{ id: 't1' }], total: 1 })
    expect(await list('bob')).toEqual({ sessions: [], total: 0 })
    await server.close(0)
    await owned.create({ id: sessionKey('bob', 't1'), user: 'bob', agent: 'echo' })
    await owned.close()

    const single = await open(false)
    // The id is free for one of the two only; the other keeps its key.
    expect(await ids(single)).toEqual([
      ['ada', 't1'],
      ['bob', sessionKey('bob', 't1')],
      ['user', 't2'],
    ])
    await single.remove('t1')
    await single.create({ id: 't1', user: 'bob', agent: 'echo' })
    await single.close()

    const again = await open(true)
    const [first, second, third] = await ids(again)
    expect([first, third]).toEqual([
      ['bob', sessionKey('bob', 't1')],
      ['user', sessionKey('user', 't2')],
    ])
    expect(second?.[1]).toMatch(new RegExp(`^${sessionKey('bob', 't1')}~\\d+$`))
    await again.close()
  })
})
