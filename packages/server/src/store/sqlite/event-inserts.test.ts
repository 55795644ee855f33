import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openReader, openWriter } from './connection.ts'
import { type EventValues, eventInserts } from './event-inserts.ts'
import { sqliteLog } from './log.ts'

async function setUp() {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-inserts-'))
  const path = join(folder, 'a.db')
  const writer = openWriter(path)
  await writer.exec(
    'CREATE TABLE event (session INTEGER, seq INTEGER, at INTEGER, run TEXT, mark INTEGER, body TEXT, UNIQUE (session, seq))',
  )
  const reader = openReader(path)
  onTestFinished(() => {
    reader.close()
    writer.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const stored = reader.prepare('SELECT session, seq, at, run, mark, body, typeof(at) FROM event ORDER BY seq')
  return { writer, inserts: await eventInserts(writer), stored: () => stored([]) }
}

const texts = ["it's", "''", "'; DROP TABLE event; --", '? ?1 :a @b $c', 'é 漢 🌊 \u2028', '', 'line\nbreak\ttab', '\\']
const times = [0, 1_762_500_000_000, 1.5, -3, 8.64e15, 1e-7]

function rows(session: number): readonly EventValues[] {
  return texts.map((text, i): EventValues => [session, i + 1, times[i % times.length] ?? 0, `run ${text}`, 2, text])
}

test('rows that are inserted as SQL text are equal to those with bound values', async () => {
  const { writer, inserts, stored } = await setUp()
  for (const row of rows(1)) inserts.add(row)
  inserts.insertHere()
  const bound = stored()
  expect(bound.length).toBe(texts.length)
  await writer.exec('DELETE FROM event')
  for (const row of rows(1)) inserts.add(row)
  await writer.exec(inserts.takeSql())
  expect(stored()).toEqual(bound)
  expect(inserts.takeSql()).toBe('')
})

test('text with U+0000 is refused as SQL, and writes nothing', async () => {
  const { writer, inserts, stored } = await setUp()
  inserts.add([1, 1, 1, 'a', 0, 'whole'])
  inserts.add([1, 2, 1, 'a\0b', 0, 'cut'])
  await expect(writer.exec(inserts.takeSql())).rejects.toThrow()
  expect(stored()).toEqual([])
})

test('a session that is removed in the transaction of an append leaves no rows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-inserts-'))
  const log = await sqliteLog({ folder, now: () => 1 })
  onTestFinished(async () => {
    await log.close()
    rmSync(folder, { recursive: true, force: true })
  })
  await log.create({ id: 's', user: 'u', agent: 'a' })
  const event = { kind: 'log', level: 'info', message: 'hello' } as const
  await Promise.all([log.append('s', [{ run: '', event }]), log.remove('s')])
  const reader = openReader(join(folder, 'millrace.db'))
  expect(reader.prepare('SELECT count(*) FROM event')([])).toEqual([[0]])
  reader.close()
})

test('many sessions that append at once keep their own rows, in order', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-inserts-'))
  const log = await sqliteLog({ folder, now: () => 1 })
  onTestFinished(async () => {
    await log.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const ids = Array.from({ length: 20 }, (_, i) => `s'${i}`)
  await Promise.all(ids.map((id) => log.create({ id, user: 'u', agent: 'a' })))
  await Promise.all(
    ids.flatMap((id) =>
      texts.map((message) => log.append(id, [{ run: '', event: { kind: 'log', level: 'info', message } }])),
    ),
  )
  for (const id of ids) {
    const read = await log.read(id, { after: 0 })
    expect(read.map(({ event }) => event.kind === 'log' && event.message)).toEqual(texts)
  }
})

test('a large import is not held in memory, and gives other work a turn', async () => {
  const { inserts, stored } = await setUp()
  let turns = 0
  const count = (): void => {
    turns += 1
    if (turns < 1000) setImmediate(count)
  }
  setImmediate(count)
  for (let seq = 1; seq <= 2000; seq++) {
    expect(inserts.isMuch).toBe(false)
    inserts.add([1, seq, 1, 'r', 0, 'x'.repeat(1000)])
  }
  for (let seq = 2001; !inserts.isMuch; seq++) inserts.add([1, seq, 1, 'r', 0, 'x'.repeat(1000)])
  await inserts.insertInTurns()
  expect(turns).toBeGreaterThan(5)
  expect(inserts.isMuch).toBe(false)
  expect(stored().length).toBeGreaterThan(2000)
})
