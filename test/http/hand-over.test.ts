import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventLog, Recorded, RunEvent } from '@millrace/core'
import { sessionKey } from '@millrace/core/store'
import { deleteUser, removeAside, sqliteLog } from '@millrace/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { full } from '../kit/full.ts'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

/** Yields feedback itself, which only a person may give. */
const flatterer = scriptedAgent('flatterer', function* () {
  yield* speech('flatterer', 'I am good')
  yield { kind: 'feedback', about: { run: 'any' }, rating: 'up' }
})
const talker = scriptedAgent('talker', () => speech('talker', 'It is 46,380 acres <script>alert(1)</script>'))

let folder: string
let log: EventLog
let server: Awaited<ReturnType<typeof testServer>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-hand-over-'))
  log = await sqliteLog({ folder, now: Date.now, owned: true })
  const tokens = new Map([
    ['adas-token', 'ada'],
    ['bobs-token', 'bob'],
  ])
  server = await testServer({ log, with: [talker, flatterer], access: { tokens } })
})
afterAll(async () => {
  await server.close(0)
  await log.close()
  await rm(folder, { recursive: true })
})

const ask = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object, token = 'adas-token') =>
  server.app.inject({ method, url, headers: { authorization: `Bearer ${token}` }, ...(payload ? { payload } : {}) })
const ran = async (session: string, agent = 'talker'): Promise<string> => {
  const input = { messages: [{ id: 'q', role: 'user', content: { role: 'user', parts: [{ text: 'How large?' }] } }] }
  const answer = await ask('POST', `/sessions/${session}/runs`, { agent, input })
  expect(answer.statusCode).toBeLessThan(300)
  const { run } = answer.json() as { run: string }
  await ask('GET', `/sessions/${session}/events?until=idle`)
  return run
}
const feedback = async (session: string) =>
  (await ask('GET', `/sessions/${session}/views/feedback`)).json() as { up: number; down: number; given: unknown[] }

describe('SPEC 1.11: feedback of a person', () => {
  test('is kept in the log with who and when, changed by giving it again, and taken back', async () => {
    const run = await ran('rated')
    const about = { run, message: 'm1' }
    const given = await ask('PUT', '/sessions/rated/feedback', { about, rating: 'up', note: '  fine ' })
    expect(given.json()).toMatchObject({ about, rating: 'up', note: 'fine', by: 'ada', seq: expect.any(Number) })
    await ask('PUT', '/sessions/rated/feedback', { about, rating: 'down' })
    expect(await feedback('rated')).toMatchObject({ up: 0, down: 1, given: [{ about, rating: 'down', by: 'ada' }] })
    await ask('PUT', '/sessions/rated/feedback', { about })
    expect(await feedback('rated')).toMatchObject({ up: 0, down: 0, given: [{ removed: true }] })
    const exported = (await ask('GET', '/sessions/rated/log')).body
    expect(exported.match(/"kind":"feedback"/g)).toHaveLength(3)
  })

  test('is refused about several things, about an unknown run, and about a session of another user', async () => {
    const run = await ran('guarded')
    const put = (about: object, token?: string) =>
      ask('PUT', '/sessions/guarded/feedback', { about, rating: 'up' }, token)
    expect((await put({ run, message: 'm', call: 'c' })).statusCode).toBe(422)
    expect((await put({ run: 'unknown' })).statusCode).toBe(404)
    expect((await put({ run }, 'bobs-token')).statusCode).toBe(404)
    expect((await feedback('guarded')).given).toEqual([])
  })

  test('an agent that yields feedback fails', async () => {
    await ran('flattered', 'flatterer')
    const rows = (await ask('GET', '/sessions/flattered/log')).body
    expect(rows).toContain('the agent yielded feedback, which only a person gives')
    expect(rows).not.toContain('"kind":"feedback"')
  })
})

describe('the report of a session', () => {
  test('is one HTML document without a script, to download', async () => {
    const run = await ran('reported')
    await ask('PUT', '/sessions/reported/feedback', { about: { run }, note: 'to the board' })
    const answer = await ask('GET', '/sessions/reported/report')
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
    expect(answer.headers['content-disposition']).toBe('attachment; filename="reported.html"')
    expect(answer.body).toContain('It is 46,380 acres &lt;script&gt;')
    expect(answer.body).toContain('to the board')
    expect(answer.body).toContain('unsupported')
  })

  test('of one run, of an unknown run, and of a session of another user', async () => {
    const run = await ran('runs')
    await ran('runs')
    const both = (await ask('GET', '/sessions/runs/report')).body
    const one = (await ask('GET', `/sessions/runs/report?run=${run}`)).body
    expect([both.match(/class="run"/g)?.length, one.match(/class="run"/g)?.length]).toEqual([2, 1])
    expect((await ask('GET', '/sessions/runs/report?run=unknown')).statusCode).toBe(404)
    expect((await ask('GET', '/sessions/runs/report', undefined, 'bobs-token')).statusCode).toBe(404)
  })

  const runs = full ? 100 : 50
  const each = full ? 1000 : 60
  test(`of ${runs * each} events is made in a thread and stays small`, async () => {
    const rows = Array.from({ length: runs * each }, (_, i): Recorded => {
      const run = `r${Math.floor(i / each)}`
      const place = i % each
      const content = { role: 'model', parts: [{ text: `Reading ${i} is 4,711 units.` }] }
      const event: RunEvent =
        place === 0
          ? { kind: 'run.started', agent: 'talker', input: { messages: [] } }
          : place === each - 1
            ? { kind: 'run.finished', outcome: 'done' }
            : {
                kind: 'agent',
                message: `m${i}`,
                event: { id: `e${i}`, author: 'talker', invocationId: run, timestamp: 1_700_000_000_000, content },
              }
      return { seq: i + 1, at: 1_700_000_000_000 + i, run, event }
    })
    await log.restore({ id: sessionKey('ada', 'long'), user: 'ada', agent: 'talker' }, rows)
    const { body, statusCode } = await ask('GET', '/sessions/long/report')
    expect(statusCode).toBe(200)
    expect(body).toContain(`Only the newest 40 of ${runs} runs are in this report.`)
    expect(body.length).toBeLessThan(4 * 2 ** 20)
  })
})

describe('a session that is deleted with undo', () => {
  const list = async (query = '') =>
    ((await ask('GET', `/sessions${query}`)).json() as { sessions: readonly { id: string }[] }).sessions.map(
      ({ id }) => id,
    )

  test('is gone at once, can be brought back as it was, and leaves its id free', async () => {
    await ran('undone')
    const before = (await ask('GET', '/sessions/undone/log')).body.split('\n').slice(1)
    expect((await ask('DELETE', '/sessions/undone?undo=true')).statusCode).toBe(204)
    expect((await ask('GET', '/sessions/undone/state')).statusCode).toBe(404)
    expect(await list()).not.toContain('undone')
    expect(await list('?removed=true')).toEqual(['undone'])
    const other = await ask('POST', '/sessions/undone/restore', undefined, 'bobs-token')
    expect(other.statusCode).toBe(404)
    expect((await ask('POST', '/sessions/undone/restore')).json()).toMatchObject({
      id: 'undone',
      user: 'ada',
      status: 'done',
    })
    expect((await ask('GET', '/sessions/undone/log')).body.split('\n').slice(1)).toEqual(before)
    expect(await list('?removed=true')).toEqual([])
    expect((await ask('POST', '/sessions/undone/restore')).statusCode).toBe(404)
    await ran('undone')
    expect((await ask('DELETE', '/sessions/undone')).statusCode).toBe(204)
    expect(await list('?removed=true')).toEqual([])
  })

  test('is not brought back over a new session of its id, and the newest of two counts', async () => {
    for (const _ of [1, 2]) {
      await ran('twice')
      await ask('DELETE', '/sessions/twice?undo=true')
    }
    expect(await list('?removed=true')).toEqual(['twice'])
    await ran('twice')
    expect((await ask('POST', '/sessions/twice/restore')).statusCode).toBe(409)
    await ask('DELETE', '/sessions/twice')
    expect((await ask('POST', '/sessions/twice/restore')).statusCode).toBe(200)
  })

  test('survives a restart of the server, and is gone for good when its time is over or its user is', async () => {
    for (const name of ['late', 'user']) {
      await ran(name)
      await ask('DELETE', `/sessions/${name}?undo=true`)
    }
    expect(await removeAside(log, Date.now())).toBe(0)
    const again = await testServer({ log, with: [talker], access: { tokens: new Map([['adas-token', 'ada']]) } })
    const headers = { authorization: 'Bearer adas-token' }
    const back = await again.app.inject({ method: 'POST', url: '/sessions/late/restore', headers })
    expect(back.statusCode).toBe(200)
    await again.close(0)
    await ask('DELETE', '/sessions/late?undo=true')
    expect(await removeAside(log, Date.now() + 11 * 60_000)).toBe(2)
    expect(await list('?removed=true')).toEqual([])
    await ran('user')
    await ask('DELETE', '/sessions/user?undo=true')
    await deleteUser({ log, evals: { forgetUser: async () => undefined } as never }, 'ada', ({ id }) => log.remove(id))
    expect((await log.list({ aside: true })).total).toBe(0)
    expect(await list()).toEqual([])
  })

  test.each([false, true])(
    'stays deleted in a file that is opened again, and can be brought back there, with users: %s',
    async (owned) => {
      const own = join(folder, `again ${owned}`)
      const options = { with: [talker], ...(owned ? { access: { tokens: new Map([['adas-token', 'ada']]) } } : {}) }
      const opened = async () => {
        const file = await sqliteLog({ folder: own, now: Date.now, owned })
        const { app, close } = await testServer({ ...options, log: file })
        const headers = { authorization: 'Bearer adas-token' }
        const to = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
          app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
        return { to, end: () => close(0).then(() => file.close()) }
      }
      const first = await opened()
      await first.to('POST', '/sessions', { id: 'gone', agent: 'talker' })
      expect((await first.to('DELETE', '/sessions/gone?undo=true')).statusCode).toBe(204)
      await first.end()
      const second = await opened()
      expect((await second.to('GET', '/sessions/gone/state')).statusCode).toBe(404)
      expect((await second.to('GET', '/sessions')).json()).toMatchObject({ total: 0 })
      expect((await second.to('POST', '/sessions/gone/restore')).statusCode).toBe(200)
      expect((await second.to('GET', '/sessions/gone/state')).statusCode).toBe(200)
      await second.end()
    },
  )
})
