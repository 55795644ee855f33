import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { endianness, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { commitTiming } from './commit-timing.ts'
import { openWriter } from './connection.ts'
import { walCopier } from './wal-copier.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-copier-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** The pages in the WAL, and how many of them are copied: numbers of the WAL's index (sqlite.org/walformat.html). */
function walOf(path: string): { readonly pages: number; readonly copied: number } {
  const index = readFileSync(`${path}-shm`)
  const at = (place: number): number => (endianness() === 'LE' ? index.readUInt32LE(place) : index.readUInt32BE(place))
  return { pages: at(16), copied: at(96) }
}

async function newFile(name: string) {
  const path = join(root, name)
  const writer = openWriter(path)
  await writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)')
  return { path, writer }
}

test('a copier that cannot open the file copies nothing, and the next time it can', async () => {
  const folder = join(root, 'late')
  const path = join(folder, 'log.db')
  const copier = walCopier(path)
  await copier.copy()
  mkdirSync(folder)
  const { writer } = await newFile('late/log.db')
  expect(walOf(path).copied).toBe(0)
  await copier.copy()
  const { pages, copied } = walOf(path)
  expect(copied).toBe(pages)
  await copier.close()
  writer.close()
})

// Else SQLite could lose pages: see `beforeCopy`.
test('the copier begins with a page that is not copied, and until it is done the writer copies none', async () => {
  const { path, writer } = await newFile('reset.db')
  // SQLite looks the number up when it prepares the statement.
  const limit = async (): Promise<unknown> => (await writer.prepare('PRAGMA wal_autocheckpoint')).first([])?.[0]
  const seen: unknown[] = []
  let done = (): void => {}
  const copy = (): Promise<void> => {
    const { pages, copied } = walOf(path)
    seen.push(copied < pages)
    return new Promise((resolve) => {
      done = resolve
    })
  }
  const timing = await commitTiming(writer, { insertHere: () => {}, takeSql: () => '' }, { copy }, () => 0)
  await writer.exec('PRAGMA wal_checkpoint(PASSIVE)')
  expect(walOf(path).copied).toBe(walOf(path).pages)
  // A commit that writes nothing, such as one of an append that was refused.
  await writer.exec('BEGIN IMMEDIATE')
  await timing.commit({ rows: 0, text: 2 ** 30, jobs: 1, bulk: false })
  await timing.between()
  expect(seen).toEqual([true])
  expect(await limit()).toBe(0)
  done()
  await timing.between() // the end of the copy is noticed after it
  await timing.between()
  expect(walOf(path).copied).toBe(walOf(path).pages)
  expect(await limit()).toBe(5000)
  writer.close()
})
