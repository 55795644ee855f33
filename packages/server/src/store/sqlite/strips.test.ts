import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Draft, type EventLog, forkSession, type RawRecorded, type Recorded, type RunEvent } from '@millrace/core'
import Database from 'libsql'
import { afterAll, describe, expect, test } from 'vitest'
import { partialEvent } from '../../../../core/src/testing/event-log/kit.ts'
import { openWriter } from './connection.ts'
import { type SqliteLog, sqliteLog } from './log.ts'
import { migrate, migrations } from './schema.ts'
import { textInRow } from './strips.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-strips-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let time = 1_000_000
const now = (): number => time
const open = (name: string): Promise<SqliteLog> => sqliteLog({ folder: join(root, name), now })

/** Asks the file itself. */
function sql(name: string, text: string): readonly unknown[] {
  const file = new Database(join(root, name, 'millrace.db'), {})
  const rows = file.prepare(text).raw().all([])
  file.close()
  return rows
}
const marks = (name: string): readonly unknown[] => sql(name, 'SELECT seq, mark FROM event ORDER BY session, seq')

const tokens = (message: string, count: number, text = 'to\nken ’ \' " \t'): readonly RunEvent[] =>
  Array.from({ length: count }, (_, i) => partialEvent(message, `${text}${i}`, true))
const whole = (message: string): RunEvent => partialEvent(message, 'whole')
const started: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [] } }
const finished: RunEvent = { kind: 'run.finished', outcome: 'done' }
const note: RunEvent = { kind: 'log', level: 'info', message: 'note' }
const drafts = (run: string, events: readonly RunEvent[]): readonly Draft[] => events.map((event) => ({ run, event }))

/** Appends the events in this many appends under a lease of the run. */
async function talk(log: EventLog, id: string, run: string, ...appends: readonly (readonly RunEvent[])[]) {
  const lease = await log.acquire(id, run, 'me', 1000)
  const rows: Recorded[] = []
  for (const events of appends) rows.push(...(await log.append(id, drafts(run, events), lease)))
  await log.release(lease)
  return rows
}

async function sessionOf(name: string, ...appends: readonly (readonly RunEvent[])[]): Promise<SqliteLog> {
  const log = await open(name)
  await log.create({ id: 's', user: 'ann', agent: 'a' })
  await talk(log, 's', 'r', ...appends)
  return log
}

describe('what one row takes', () => {
  test('partials of one message in one append are one row, and a lone partial is a row as ever', async () => {
    const log = await sessionOf(
      'packed',
      [started, ...tokens('m', 40), whole('m'), ...tokens('n', 2), ...tokens('m', 3), note, ...tokens('m', 1)],
      tokens('m', 1),
      tokens('m', 2),
    )
    expect(marks('packed')).toEqual([
      [1, 4],
      [41, -40],
      [42, 1],
      [44, -2],
      [47, -3],
      [48, 0],
      [49, 2],
      [50, 2],
      [52, -2],
    ])
    expect((await log.read('s', { after: 0 })).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 52 }, (_, i) => i + 1),
    )
    await log.close()
  })
  test('a row has at most 64 partials and 64 Ki characters', async () => {
    const log = await sessionOf('bounded', [...tokens('m', 130), note, ...tokens('n', 10, 'x'.repeat(10_000))])
    expect(marks('bounded')).toEqual([
      [64, -64],
      [128, -64],
      [130, -2],
      [131, 0],
      [134, -3],
      [137, -3],
      [140, -3],
      [141, 2],
    ])
    await log.close()
  })
  test('partials of several times or runs are several rows', async () => {
    const log = await open('apart')
    await log.create({ id: 's', user: 'ann', agent: 'a' })
    const [event = note] = tokens('m', 1)
    await log.append(
      's',
      [5, 5, 6, 6].map((at) => ({ run: '', event, at })),
    )
    expect(marks('apart')).toEqual([
      [2, -2],
      [4, -2],
    ])
    await log.close()
  })
})

describe('reading', () => {
  test('every seq can be a cursor, and every limit is kept', async () => {
    const log = await sessionOf('cursors', [started, ...tokens('m', 70), whole('m'), ...tokens('cut', 9)], [finished])
    const all = await log.readRaw('s', { after: 0 })
    expect(all.length).toBe(82)
    for (const brief of [false, true])
      for (let after = 0; after <= 82; after++)
        for (const limit of [1, 2, 7, 64, 65, 500]) {
          const kept = all.filter(({ seq }) => seq > after && !(brief && seq > 1 && seq <= 71))
          expect({ brief, after, limit, rows: await log.readRaw('s', { after, limit, brief }) }).toEqual({
            brief,
            after,
            limit,
            rows: kept.slice(0, limit),
          })
        }
    await log.close()
    const again = await open('cursors') // whose tail has nothing
    for (let after = 0; after < 82; after++) {
      const stop = new AbortController()
      const rows: Recorded[] = []
      for await (const page of again.follow('s', { after, signal: stop.signal })) {
        rows.push(...page)
        if (rows.at(-1)?.seq === 82) stop.abort()
      }
      expect(rows.map(({ seq }) => seq)).toEqual(all.slice(after).map(({ seq }) => seq))
    }
    await again.close()
  })
  test('a page has at most 500 events and a megabyte', async () => {
    const log = await sessionOf('pages', tokens('m', 2000, 'é'), tokens('wide', 200, 'x'.repeat(30_000)))
    await log.close()
    const again = await open('pages')
    const pages: number[] = []
    const stop = new AbortController()
    for await (const page of again.followRaw('s', { after: 7, signal: stop.signal })) {
      expect(page.length).toBeLessThanOrEqual(500)
      expect(page.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)).toBeLessThanOrEqual(2 ** 20)
      pages.push(page.length)
      if (page.at(-1)?.seq === 2200) stop.abort()
    }
    expect(pages.reduce((sum, rows) => sum + rows)).toBe(2193)
    expect(Math.max(...pages)).toBeGreaterThan(400)
    await again.close()
  })
  test('what the events of a strip share counts for each of them in a page', async () => {
    const author = 'a'.repeat(12_000)
    const long = Array.from({ length: 400 }, (_, i): RunEvent => {
      const content = { parts: [{ text: String(i) }] }
      return {
        kind: 'agent',
        event: { author, invocationId: 'r', timestamp: 1, id: `${i}`, content, partial: true },
        message: 'm',
      }
    })
    const log = await sessionOf('long', long)
    const all = await log.readRaw('s', { after: 0 })
    expect(all.map(({ body }) => body)).toEqual(long.map((event) => JSON.stringify(event)))
    await log.close()
    const again = await open('long')
    const rows: RawRecorded[] = []
    const stop = new AbortController()
    for await (const page of again.followRaw('s', { after: 0, signal: stop.signal })) {
      expect(page.reduce((sum, { body }) => sum + body.length, 0)).toBeLessThanOrEqual(2 ** 20)
      rows.push(...page)
      if (rows.length >= 400) stop.abort()
    }
    expect(rows).toEqual(all)
    await again.close()
  })
  test('a file in which a strip has a line too many is damaged, and is not read for ever', async () => {
    const log = await sessionOf('lines', [started, ...tokens('m', 10), whole('m')])
    await log.close()
    sql('lines', "UPDATE event SET body = body || char(10) || 'more' WHERE mark < 0 RETURNING 1")
    const again = await open('lines')
    for (const after of [0, 5])
      await expect(again.readRaw('s', { after })).rejects.toMatchObject({ facts: { reason: 'damaged' } })
    await again.close()
  })
})

test('a fork inside a strip splits it, and keeps its part when the origin is pruned or removed', async () => {
  const log = await sessionOf('split', [started, ...tokens('m', 10), whole('m'), finished])
  const before = await log.readRaw('s', { after: 0 })
  await forkSession(log, 's', 5, 'five')
  await forkSession(log, 's', 2, 'two')
  await forkSession(log, 'five', 3, 'three')
  expect(sql('split', 'SELECT seq, mark FROM event WHERE session = 1 ORDER BY seq')).toEqual([
    [1, 4],
    [2, 2],
    [3, 2],
    [5, -2],
    [11, -6],
    [12, 1],
    [13, 3],
  ])
  expect(await log.readRaw('s', { after: 0 })).toEqual(before)
  const forks = ['two', 'three', 'five']
  const shared = await Promise.all(forks.map((id) => log.readRaw(id, { after: 0 })))
  expect(shared.map((rows) => rows.filter(({ seq }) => seq <= 11))).toEqual(
    [2, 3, 5].map((seq) => expect.arrayContaining(before.slice(0, seq))),
  )
  time += 1000
  expect(await log.prune(time - 1)).toBe(6)
  expect(await log.get('s')).toMatchObject({ events: 7, lastSeq: 13 })
  const left = await log.readRaw('s', { after: 0 })
  expect(left).toEqual(before.filter(({ seq }) => seq <= 5 || seq > 11))
  expect(sql('split', "SELECT size FROM session WHERE name = 's'")).toEqual(
    sql('split', `SELECT sum(${textInRow}) FROM event WHERE session = 1`),
  )
  await log.remove('s')
  expect(await Promise.all(forks.map((id) => log.readRaw(id, { after: 0 })))).toEqual(shared)
  for (const id of forks) await log.remove(id)
  expect(sql('split', 'SELECT count(*) FROM event')).toEqual([[0]])
  expect(await log.usage?.()).toEqual({ sessions: 0, bytes: 0 })
  await log.close()
})

test('a strip of version 7, which has every event whole, is read, split and continued', async () => {
  const log = await sessionOf('whole lines', [started, ...tokens('m', 10)])
  const before = await log.readRaw('s', { after: 0 })
  await log.close()
  const file = new Database(join(root, 'whole lines', 'millrace.db'), {})
  const lines = before.slice(1).map(({ body }) => body)
  file.prepare('UPDATE event SET body = ? WHERE mark < 0').run([lines.join('\n')])
  file.close()
  const again = await open('whole lines')
  expect(await again.readRaw('s', { after: 0 })).toEqual(before)
  await forkSession(again, 's', 5, 'fork')
  expect(await again.readRaw('s', { after: 0 })).toEqual(before)
  expect((await again.readRaw('fork', { after: 0 })).slice(0, 5)).toEqual(before.slice(0, 5))
  await again.close()
})

test('a file of the version before is read, and goes on with strips', async () => {
  const folder = join(root, 'earlier')
  await (await open('earlier')).close()
  rmSync(join(folder, 'millrace.db'))
  const writer = openWriter(join(folder, 'millrace.db'))
  await migrate(
    writer,
    1,
    migrations.filter(({ version }) => version < 7),
  )
  const events = [started, ...tokens('m', 5), whole('m'), finished]
  const bodies = events.map((event) => JSON.stringify(event))
  const insert = await writer.prepare('INSERT INTO event (session, seq, at, run, mark, body) VALUES (?, ?, ?, ?, ?, ?)')
  for (const [i, body] of bodies.entries()) insert.run([1, i + 1, time, 'r', [4, 2, 2, 2, 2, 2, 1, 3][i] ?? 0, body])
  await writer.exec(
    `INSERT INTO session (name, user, agent, title, search, status, last_run, last_seq, events, runs, created_at, updated_at,
       epoch, partials, widest, size) VALUES ('s', 'ann', 'a', '', '', 'done', 'r', 8, 8, 1, 1, ${time}, 0, 5, 1024, ${bodies.join('').length});
     PRAGMA journal_mode = WAL`,
  )
  writer.close()
  const log = await open('earlier')
  expect((await log.read('s', { after: 0 })).map(({ event }) => event)).toEqual(events)
  await forkSession(log, 's', 3, 'fork')
  await talk(log, 's', 'r2', [started, ...tokens('n', 700)])
  expect((await log.read('s', { after: 3 })).map(({ event }) => event)).toEqual([
    ...events.slice(3),
    started,
    ...tokens('n', 700),
  ])
  time += 1000
  expect(await log.prune(time - 1)).toBe(3)
  expect((await log.read('fork', { after: 0, limit: 3 })).map(({ event }) => event)).toEqual(events.slice(0, 3))
  expect(sql('earlier', 'SELECT max(version) FROM migration')).toEqual([[8]])
  expect(await log.integrity()).toEqual([])
  await log.close()
})
