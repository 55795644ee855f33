import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Draft, FoundPage } from '@millrace/core'
import Database from 'libsql'
import { afterAll, expect, test } from 'vitest'
import { openWriter } from './connection.ts'
import { type SqliteLog, sqliteLog } from './log.ts'
import { migrate, migrations } from './schema.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-find-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const open = (name: string): Promise<SqliteLog> => sqliteLog({ folder: join(root, name), now: () => 1000 })
const database = (name: string) => new Database(join(root, name, 'millrace.db'), {})
const count = (name: string, table: string): number => {
  const file = database(name)
  const row = file.prepare(`SELECT count(*) FROM ${table}`).raw().get([]) as number[]
  file.close()
  return Number(row[0])
}
const said = (text: string): Draft => ({ run: '', event: { kind: 'log', level: 'error', message: text } })
const fill = async (log: SqliteLog, id: string, rows: number): Promise<void> => {
  await log.create({ id, user: 'ann', agent: 'a' })
  await log.append(
    id,
    Array.from({ length: rows }, (_, i) => said(`anchor ${i} ${id}`)),
  )
}
/** Asks until all rows can be found, and returns every answer. */
async function untilIndexed(log: SqliteLog, text: string): Promise<readonly FoundPage[]> {
  const pages: FoundPage[] = []
  do pages.push(await log.find({ user: 'ann', text, limit: 100 }))
  while (pages.at(-1)?.indexing !== undefined)
  return pages
}

test('a store of an earlier version is indexed in slices, the newest session first, and says how far it is', async () => {
  const log = await open('old')
  await fill(log, 's0', 3000)
  await fill(log, 's1', 3000)
  await log.close()
  // The file as the version before had it.
  const file = database('old')
  file.exec(`DROP TABLE found_words; DROP TABLE found_text; DELETE FROM migration WHERE version >= 6;
    ALTER TABLE session DROP COLUMN found_to; ALTER TABLE session DROP COLUMN found_version`)
  file.close()
  const again = await open('old')
  const pages = await untilIndexed(again, 'anchor 2999')
  const steps = pages.flatMap(({ indexing }) => indexing?.done ?? [])
  expect(steps).toEqual([...steps].sort((a, b) => a - b))
  for (const { indexing } of pages) if (indexing !== undefined) expect(indexing.of).toBe(6000)
  expect(
    pages
      .at(-1)
      ?.found.map(({ session, seq }) => [session, seq])
      .sort(),
  ).toEqual([
    ['s0', 3000],
    ['s1', 3000],
  ])
  await again.close()
})

test('words of another version are indexed anew, without a trace of the old ones', async () => {
  const log = await open('version')
  await fill(log, 's', 450)
  await untilIndexed(log, 'anchor')
  await log.close()
  expect(count('version', 'found_text')).toBe(450)
  const file = database('version')
  file.exec('UPDATE session SET found_version = 999')
  file.close()
  const again = await open('version')
  const [first] = (await untilIndexed(again, 'anchor 449')).slice(-1)
  expect(first?.found.length).toBe(1)
  await again.close()
  expect(count('version', 'found_text')).toBe(450)
})

test('an index that was deleted is made again', async () => {
  const log = await open('deleted')
  await fill(log, 's', 10)
  await untilIndexed(log, 'anchor')
  await log.close()
  const file = database('deleted')
  file.exec(
    "DELETE FROM found_text; INSERT INTO found_words (found_words) VALUES ('delete-all'); UPDATE session SET found_version = 0",
  )
  file.close()
  const again = await open('deleted')
  expect((await untilIndexed(again, 'anchor')).at(-1)?.found.length).toBe(10)
  await again.close()
})

test('the texts of small and of large removed sessions leave the file', async () => {
  const log = await open('removed')
  await fill(log, 'small', 10)
  await fill(log, 'large', 2000)
  await fill(log, 'stays', 5)
  await untilIndexed(log, 'anchor')
  await log.remove('small')
  await log.remove('large')
  expect((await log.find({ user: 'ann', text: 'anchor' })).found.length).toBe(5)
  await log.close()
  expect(count('removed', 'found_text')).toBe(5)
  expect(count('removed', 'found_words')).toBe(5)
})

test('an append writes no word: only a search indexes', async () => {
  const log = await open('lazy')
  await fill(log, 's', 100)
  await log.close()
  expect(count('lazy', 'found_text')).toBe(0)
})

test('a log is closed while its index is far behind, and goes on after the next start', async () => {
  const log = await open('closed')
  await fill(log, 's', 5000)
  const first = log.find({ user: 'ann', text: 'anchor' }).catch(() => undefined)
  await log.close()
  await first
  const again = await open('closed')
  expect((await untilIndexed(again, 'anchor 4999')).at(-1)?.found.length).toBe(1)
  expect(await again.integrity()).toEqual([])
  await again.close()
})

test('the migration leaves the rows of a file as they are', async () => {
  const writer = openWriter(':memory:')
  await migrate(
    writer,
    1,
    migrations.filter(({ version }) => version < 6),
  )
  await writer.exec(
    "INSERT INTO session (name, user, agent, title, search, status, last_seq, events, runs, created_at, updated_at, epoch, partials, widest) VALUES ('s', 'u', 'a', '', '', 'idle', 7, 7, 0, 1, 1, 0, 0, 0)",
  )
  await migrate(writer, 2)
  const row = (await writer.prepare('SELECT last_seq, found_to, found_version FROM session')).first([])
  expect(row?.slice(0, 3)).toEqual([7, 0, 0])
  writer.close()
})
