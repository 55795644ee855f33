import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventLog, Recorded, RunEvent } from '@millrace/core'
import { sessionKey } from '@millrace/core/store'
import { sqliteLog } from '@millrace/server'
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
