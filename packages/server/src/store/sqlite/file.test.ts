import { createHash } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defined } from '@millrace/core'
import Database from 'libsql'
import { afterAll, describe, expect, test } from 'vitest'
import { openWriter } from './connection.ts'
import { openSqliteFile } from './file.ts'
import { type SqliteLog, sqliteLog } from './log.ts'
import { migrate, migrations } from './schema.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-file-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let folders = 0
const newFolder = (): string => join(root, `folder ${folders++} ?#%`)
const at = (folder: string): string => join(folder, 'millrace.db')
const open = (folder: string, maxBytes?: number): Promise<SqliteLog> =>
  sqliteLog({ folder, now: () => 1000, ...defined({ maxBytes }) })
const draft = (message: string) => ({ run: '', event: { kind: 'log', level: 'info', message } as const })

/** The bytes of every file except the lock and the shared memory, which hold no data. */
function fingerprint(folder: string): Record<string, string> {
  const names = readdirSync(folder).filter((name) => !/\.lock|-shm$/.test(name))
  return Object.fromEntries(
    names.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  )
}

async function filled(folder: string, sessions = 20): Promise<void> {
  const log = await open(folder)
  for (let i = 0; i < sessions; i++) {
    await log.create({ id: `s${i}`, user: 'ann', agent: 'a', title: `title ${i}` })
    await log.append(
      `s${i}`,
      Array.from({ length: 50 }, (_, n) => draft(`${i}/${n} ${'x'.repeat(200)}`)),
    )
  }
  await log.close()
}

/** Expects a refusal with this reason that changes no byte. */
async function refused(folder: string, reason: string): Promise<void> {
  const before = fingerprint(folder)
  await expect(open(folder)).rejects.toMatchObject({ code: 'store-failed', facts: { reason } })
  expect(fingerprint(folder)).toEqual(before)
}

describe('opening', () => {
  test('creates the folder and sets the file to be durable', async () => {
    const folder = join(newFolder(), 'deep', 'er')
    const file = await openSqliteFile({ folder, now: 1 })
    const pragma = async (name: string) => (await file.writer.prepare(`PRAGMA ${name}`)).first([])?.[0]
    expect(await pragma('journal_mode')).toBe('wal')
    expect(await pragma('synchronous')).toBe(2) // FULL
    expect(file.reader.prepare('SELECT version, at FROM migration')([])).toEqual(
      migrations.map(({ version }) => [version, 1]),
    )
    await file.close()
  })
  test('an opened file has its rows, counts, leases and epochs again', async () => {
    const folder = newFolder()
    const first = await open(folder)
    await first.create({ id: 's', user: 'ann', agent: 'a', forkOf: { session: 'o', seq: 3 } })
    const lease = await first.acquire('s', 'r', 'me', 500)
    const started = { kind: 'run.started', agent: 'a', input: { messages: [] } } as const
    await first.append('s', [{ run: 'r', event: started, at: 7.25 }], lease)
    const before = [await first.get('s'), await first.read('s', { after: 0 }), await first.expired('me')]
    await first.close()
    const second = await open(folder)
    expect([await second.get('s'), await second.read('s', { after: 0 }), await second.expired('me')]).toEqual(before)
    await expect(second.acquire('s', 'x', 'you', 1)).rejects.toMatchObject({ code: 'busy' })
    expect((await second.takeOver(lease, 'me', 500)).epoch).toBe(lease.epoch + 1)
    expect(await second.integrity()).toEqual([])
    await second.close()
  })
  test('numbers are kept as integers', async () => {
    const folder = newFolder()
    await filled(folder, 1)
    const types = new Database(at(folder), {}).prepare(
      'SELECT DISTINCT typeof(session), typeof(seq), typeof(at), typeof(mark) FROM event',
    )
    expect(types.raw().all()).toEqual([['integer', 'integer', 'integer', 'integer']])
  })
  test('an empty file becomes a log', async () => {
    const folder = newFolder()
    mkdirSync(folder)
    writeFileSync(at(folder), '')
    const log = await open(folder)
    expect((await log.list({})).total).toBe(0)
    await log.close()
  })
  test('a second log on the same folder is refused, and the first continues', async () => {
    const folder = newFolder()
    const log = await open(folder)
    await expect(open(folder)).rejects.toMatchObject({ code: 'store-failed', facts: { reason: 'locked' } })
    await log.create({ id: 's', user: 'u', agent: 'a' })
    await log.close()
    const again = await open(folder)
    expect(await again.get('s')).toMatchObject({ id: 's' })
    await again.close()
  })
})

describe('a file that is refused and stays unchanged', () => {
  test('a newer version wrote it', async () => {
    const folder = newFolder()
    await filled(folder)
    const other = new Database(at(folder), {})
    other.exec('INSERT INTO migration VALUES (99, 1); PRAGMA wal_checkpoint(TRUNCATE)')
    other.close()
    await refused(folder, 'newer')
  })
  test('it is text, another program’s database or a folder', async () => {
    for (const make of [
      (path: string) => writeFileSync(path, 'my diary\n'.repeat(1000)),
      (path: string) => writeFileSync(path, 'x'),
      (path: string) => new Database(path, {}).exec('CREATE TABLE diary (day TEXT)'),
      (path: string) => new Database(path, {}).exec('CREATE TABLE migration (version INTEGER)'),
    ]) {
      const folder = newFolder()
      mkdirSync(folder)
      make(at(folder))
      await refused(folder, 'foreign')
    }
    const folder = newFolder()
    mkdirSync(at(folder), { recursive: true })
    await expect(open(folder)).rejects.toMatchObject({ facts: { reason: 'foreign' } })
    const file = join(folder, 'a file')
    writeFileSync(file, 'mine')
    for (const taken of [file, join(file, 'below')])
      await expect(open(taken)).rejects.toMatchObject({ facts: { reason: 'foreign' } })
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })
  test('it is truncated, or has a hole anywhere', async () => {
    const folder = newFolder()
    await filled(folder)
    const whole = readFileSync(at(folder))
    const { size } = statSync(at(folder))
    truncateSync(at(folder), Math.floor(size / 2))
    await refused(folder, 'damaged')
    for (const place of [100, 4096, Math.floor(size / 8192) * 4096, size - 4096]) {
      writeFileSync(at(folder), whole)
      const file = openSync(at(folder), 'r+')
      writeSync(file, Buffer.alloc(2000, 0xa5), 0, 2000, place)
      closeSync(file)
      await refused(folder, 'damaged')
    }
    writeFileSync(at(folder), whole)
    await (await open(folder)).close()
  })
  test('the data folder is a file', async () => {
    const folder = newFolder()
    writeFileSync(folder, '')
    await expect(open(folder)).rejects.toMatchObject({ code: 'store-failed', facts: { place: folder } })
  })
})

describe('migrations', () => {
  const newest = migrations.length
  const steps = [
    ...migrations,
    { version: newest + 1, sql: "ALTER TABLE session ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'" },
  ]

  test('an older file is migrated once, with its data', async () => {
    const folder = newFolder()
    await filled(folder, 2)
    const writer = openWriter(at(folder))
    await migrate(writer, 5000, steps)
    await migrate(writer, 6000, steps)
    expect((await writer.prepare('SELECT group_concat(version), max(at) FROM migration')).first([])).toEqual([
      steps.map(({ version }) => version).join(','),
      5000,
    ])
    expect((await writer.prepare('SELECT count(*), min(colour) FROM session')).first([])).toEqual([2, 'grey'])
    writer.close()
  })
  test('a step that fails leaves the file at the version before', async () => {
    const folder = newFolder()
    await filled(folder, 1)
    const writer = openWriter(at(folder))
    await expect(
      migrate(writer, 5000, [...steps, { version: newest + 2, sql: 'ALTER TABLE nonsense ADD x' }]),
    ).rejects.toThrow()
    expect((await writer.prepare('SELECT max(version) FROM migration')).first([])).toEqual([newest])
    writer.close()
    await (await open(folder)).close()
  })
})

describe('a full disk', () => {
  test('refuses the append, writes nothing half, still reads, and appends again once there is room', async () => {
    const folder = newFolder()
    const log = await open(folder, 400_000)
    await log.create({ id: 'a', user: 'u', agent: 'a' })
    await log.create({ id: 'b', user: 'u', agent: 'a' })
    let taken = 0
    const fill = async (): Promise<unknown> => {
      for (;;) taken = (await log.append('a', [draft(`${taken} ${'x'.repeat(5000)}`), draft('pair')])).at(-1)?.seq ?? 0
    }
    await expect(fill()).rejects.toMatchObject({ code: 'store-failed', facts: { reason: 'full', place: at(folder) } })
    expect(taken).toBeGreaterThan(20)
    expect(taken % 2).toBe(0)
    expect((await log.read('a', { after: 0 })).length).toBe(taken)
    expect(await log.get('a')).toMatchObject({ lastSeq: taken, events: taken })
    await expect(log.append('a', [draft('x'.repeat(100_000))])).rejects.toMatchObject({ facts: { reason: 'full' } })
    await log.remove('a')
    expect((await log.append('b', [draft('x'.repeat(5000))])).map(({ seq }) => seq)).toEqual([1])
    expect(await log.integrity()).toEqual([])
    await log.close()
  })
  test('an append that is too big fails alone', async () => {
    const log = await open(newFolder(), 400_000)
    await log.create({ id: 's', user: 'u', agent: 'a' })
    const results = await Promise.allSettled([
      log.append('s', [draft('small')]),
      log.append('s', [draft('x'.repeat(1_000_000))]),
      log.append('s', [draft('small too')]),
      log.create({ id: 't', user: 'u', agent: 'a' }),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(
      (await log.read('s', { after: 0 })).map(({ seq, event }) => [seq, event.kind === 'log' && event.message]),
    ).toEqual([
      [1, 'small'],
      [2, 'small too'],
    ])
    await log.close()
  })
})
