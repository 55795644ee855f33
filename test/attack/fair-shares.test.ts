import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MillraceOptions, type SomeShares, type SqliteLog, sqliteLog } from '@millrace/server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { full } from '../kit/full.ts'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

const echo = scriptedAgent('echo', () => speech('echo', 'hello'))
const tokens = new Map(['ada', 'bob'].map((user) => [`${user}-token-0123456789`, user]))
type Server = Awaited<ReturnType<typeof testServer>>

describe('a user has a share, and no more', () => {
  let folder: string
  let log: SqliteLog
  let server: Server
  let address: string
  const open = async (shares: SomeShares, more: Partial<MillraceOptions> = {}) => {
    server = await testServer({
      log,
      with: [echo],
      fallback: 'echo',
      access: { tokens, operators: ['ada'] },
      limits: { shares },
      ...more,
    })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  }
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-shares-'))
    log = await sqliteLog({ folder, now: Date.now, owned: true })
  })
  afterEach(async () => {
    await server.close(0)
    await log.close()
    await rm(folder, { recursive: true })
  })
  const send = (user: string, method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> =>
    fetch(`${address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${user}-token-0123456789`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  const make = async (user: string, id: string) =>
    expect((await send(user, 'POST', '/sessions', { id, agent: 'echo' })).status, id).toBe(201)
  const refused = async (answer: Response, status: number, limit: string) => {
    const problem = await answer.text()
    expect(answer.status, problem).toBe(status)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(problem).toContain(limit)
    const metrics = await (await send('ada', 'GET', '/metrics')).text()
    expect(metrics).toMatch(new RegExp(`millrace_refused_total\\{share="${limit}",by="user"\\} \\d`))
  }

  test('of open streams; a stream that ends makes room', async () => {
    await open({ streams: { user: 2 } })
    await make('ada', 's')
    await make('bob', 's')
    const leaves = [new AbortController(), new AbortController()]
    for (const leave of leaves)
      expect((await send('ada', 'GET', '/sessions/s/events', undefined, leave.signal)).status).toBe(200)
    await refused(await send('ada', 'GET', '/sessions/s/events'), 429, 'streams')
    const other = new AbortController()
    expect((await send('bob', 'GET', '/sessions/s/events', undefined, other.signal)).status).toBe(200)
    leaves[0]?.abort()
    let status = 429
    const next = new AbortController()
    while (status === 429) status = (await send('ada', 'GET', '/sessions/s/events', undefined, next.signal)).status
    expect(status).toBe(200)
    for (const leave of [...leaves, other, next]) leave.abort()
  })

  test('of streams in all', async () => {
    await open({ streams: { all: 1 } })
    await make('ada', 's')
    await make('bob', 's')
    const leave = new AbortController()
    expect((await send('ada', 'GET', '/sessions/s/events', undefined, leave.signal)).status).toBe(200)
    expect((await send('bob', 'GET', '/sessions/s/events')).status).toBe(429)
    leave.abort()
  })

  test('of reads at once', async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const facts: SqliteLog['facts'] = async (id, at) => {
      await held
      return log.facts(id, at)
    }
    await open({ reads: { user: 1 } }, { log: { ...log, facts } })
    await make('ada', 's')
    await make('bob', 's')
    const first = send('ada', 'GET', '/sessions/s/state')
    let second = await send('ada', 'GET', '/sessions/s/tasks')
    while (second.status === 200) second = await send('ada', 'GET', '/sessions/s/tasks')
    await refused(second, 429, 'reads')
    expect((await send('bob', 'GET', '/sessions')).status).toBe(200)
    expect((await send('bob', 'GET', '/health')).status).toBe(200)
    release()
    expect((await first).status).toBe(200)
    expect((await send('ada', 'GET', '/sessions/s/state')).status).toBe(200)
  })

  test('of writes, forks and imports per minute; cancelling and deleting are always answered', async () => {
    await open({ writes: { user: 3 }, forks: { user: 1 }, imports: { user: 1 } })
    await make('ada', 's')
    await make('ada', 't')
    expect((await send('ada', 'POST', '/sessions/s/fork', { id: 'f' })).status).toBe(201)
    await refused(await send('ada', 'POST', '/sessions/s/fork', { id: 'g' }), 429, 'forks')
    const file = await (await send('ada', 'GET', '/sessions/s/log')).text()
    const upload = (user: string) =>
      fetch(`${address}/sessions/import`, {
        method: 'POST',
        headers: { authorization: `Bearer ${user}-token-0123456789`, 'content-type': 'application/x-ndjson' },
        body: file,
      })
    expect((await upload('ada')).status).toBe(201)
    await refused(await upload('ada'), 429, 'imports')
    expect((await upload('bob')).status).toBe(201)
    await make('ada', 'u')
    await refused(await send('ada', 'POST', '/sessions', { id: 'v' }), 429, 'writes')
    await make('bob', 'v')
    expect((await send('ada', 'POST', '/sessions/s/cancel', {})).status).toBe(200)
    for (const id of ['s', 't', 'u', 'f']) expect((await send('ada', 'DELETE', `/sessions/${id}`)).status).toBe(204)
  })

  test('of sessions, made in any way; deleting one makes room', async () => {
    await open({ sessions: { user: 2 } })
    await make('ada', 's')
    await make('ada', 't')
    const run = (threadId: string) => ({ threadId, runId: 'r', messages: [{ id: '1', role: 'user', content: 'hi' }] })
    await refused(await send('ada', 'POST', '/sessions', { id: 'u' }), 507, 'sessions')
    for (const [path, body] of [
      ['/ag-ui/echo', run('u')],
      ['/sessions/s/fork', {}],
      ['/apps/echo/users/ada/sessions', {}],
      ['/api/projects/echo/stream', { input: 'hi' }],
      ['/sessions/u/runs', { input: { messages: [] } }],
    ] as const)
      expect((await send('ada', 'POST', path, body)).status, path).toBe(507)
    await make('bob', 'u')
    expect((await send('ada', 'POST', '/ag-ui/echo', run('s'))).status).toBe(200)
    expect((await send('ada', 'DELETE', '/sessions/t')).status).toBe(204)
    await make('ada', 'u')
  })

  test('of bytes: what a user has is counted, and freed by deleting', async () => {
    let now = 0
    await open({ bytes: { user: 20_000 } }, { now: () => now })
    await make('ada', 's')
    const task = (id: string) =>
      send('ada', 'POST', `/sessions/${id}/tasks`, { title: 'x', description: 'y'.repeat(1000) })
    let answer = await task('s')
    let tasks = 0
    while (answer.status === 201 && tasks < 100) {
      tasks += 1
      now += 1_000 // counts are read again after a second
      answer = await task('s')
    }
    expect(tasks).toBeGreaterThan(10)
    expect(tasks).toBeLessThan(30)
    await refused(answer, 507, 'bytes')
    const input = { messages: [] }
    expect((await send('ada', 'POST', '/sessions/s/runs', { input })).status).toBe(507)
    expect((await send('ada', 'POST', '/sessions', { id: 't' })).status).toBe(507)
    expect((await send('ada', 'GET', '/sessions/s/tasks')).status).toBe(200)
    await make('bob', 's')
    expect((await send('ada', 'DELETE', '/sessions/s')).status).toBe(204)
    await make('ada', 't')
  })

  test('tasks, added one by one, take what they are, and not each time the whole list', async () => {
    const tasks = full ? 300 : 60
    await open({})
    await make('ada', 's')
    const description = 'd'.repeat(1000)
    for (let i = 0; i < tasks; i += 1)
      expect((await send('ada', 'POST', '/sessions/s/tasks', { title: `task ${i}`, description })).status).toBe(201)
    expect((await log.usage?.('ada'))?.bytes).toBeLessThan(tasks * 1500)
    await log.close()
    expect((await stat(join(folder, 'millrace.db'))).size).toBeLessThan(100_000 + tasks * 6000)
    log = await sqliteLog({ folder, now: Date.now, owned: true })
  })
})

test('without users there is one owner, and only the limits for all count', async () => {
  const shares: SomeShares = { sessions: { user: 1, all: 3 }, writes: { user: 1 }, reads: { user: 0 } }
  const server = await testServer({ with: [echo], fallback: 'echo', limits: { shares } })
  const make = () =>
    server.app.inject({ method: 'POST', url: '/sessions', headers: { host: 'localhost' }, payload: {} })
  const statuses = []
  for (let i = 0; i < 5; i += 1) statuses.push((await make()).statusCode)
  expect(statuses).toEqual([201, 201, 201, 507, 507])
  expect((await server.app.inject({ url: '/sessions', headers: { host: 'localhost' } })).statusCode).toBe(200)
  await server.close(0)
})

test('a log that is full says so on /ready, refuses with 507, and takes work again after a deletion', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-full-'))
  const log = await sqliteLog({ folder, now: Date.now, maxBytes: 400_000 })
  const server = await testServer({ log, with: [echo], fallback: 'echo' })
  const ask = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
    server.app.inject({ method, url, headers: { host: 'localhost' }, ...(payload === undefined ? {} : { payload }) })
  for (const id of ['a', 'b']) await ask('POST', '/sessions', { id })
  expect((await ask('GET', '/ready')).statusCode).toBe(200)
  const add = (id: string) => ask('POST', `/sessions/${id}/tasks`, { title: 'x', description: 'y'.repeat(2_000) })
  let last = await add('a')
  while (last.statusCode === 201) last = await add('a')
  expect([last.statusCode, last.json().code]).toEqual([507, 'no-room'])
  let ready = await ask('GET', '/ready')
  while (ready.statusCode === 200) ready = await ask('GET', '/ready')
  expect(ready.json()).toMatchObject({ status: 'not ready', reason: 'the disk or the quota is full' })
  expect((await ask('DELETE', '/sessions/a')).statusCode).toBe(204)
  while (ready.statusCode === 503) ready = await ask('GET', '/ready')
  expect((await add('b')).statusCode).toBe(201)
  await server.close(0)
  await log.close()
  await rm(folder, { recursive: true })
})
