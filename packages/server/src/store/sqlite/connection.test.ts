import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openReader, openWriter } from './connection.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-connection-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('exec does not block the event loop while it waits', async () => {
  const writer = openWriter(join(folder, 'a.db'))
  let running = true
  let turns = 0
  const turn = (): void => {
    turns += 1
    if (running) setImmediate(turn)
  }
  setImmediate(turn)
  const count = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 500000)'
  await writer.exec(`CREATE TABLE n AS ${count} SELECT max(x) AS x FROM c`)
  running = false
  expect((await writer.prepare('SELECT x FROM n')).first([])).toEqual([500_000])
  expect(turns).toBeGreaterThan(100)
  writer.close()
})

test('a reader sees what is committed, and only that', async () => {
  const file = join(folder, 'b.db')
  const writer = openWriter(file)
  await writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER, s TEXT)')
  const insert = await writer.prepare('INSERT INTO t VALUES (?, ?)')
  const rows = openReader(file).prepare('SELECT n, s, typeof(n) FROM t ORDER BY n')
  await writer.exec('BEGIN')
  expect([insert.run([2 ** 40, 'é😀']), insert.run([7, ''])]).toEqual([1, 2])
  expect(rows([])).toEqual([])
  await writer.exec('COMMIT')
  expect(rows([])).toEqual([
    [7, '', 'integer'],
    [2 ** 40, 'é😀', 'integer'],
  ])
})
