import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newTails } from '../tail.ts'
import type { ReadConnection } from './connection.ts'
import { openSqliteFile } from './file.ts'
import { sqliteReads } from './read.ts'
import type { SessionRow } from './session-row.ts'

/** Reads of a file without sessions, and how many queries they made. */
async function setUp(known: SessionRow | undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-read-'))
  const file = await openSqliteFile({ folder, now: 0 })
  onTestFinished(async () => {
    await file.close()
    rmSync(folder, { recursive: true, force: true })
  })
  let queries = 0
  const counting: ReadConnection = {
    ...file.reader,
    prepare: (sql) => {
      const rows = file.reader.prepare(sql)
      return (values) => {
        queries += 1
        return rows(values)
      }
    },
  }
  const tails = newTails()
  const reads = sqliteReads({
    reader: counting,
    tails,
    now: () => 0,
    checkOpen: () => {},
    due: new Map(),
    usage: { of: () => ({ sessions: 0, bytes: 0 }) },
    known: () => known,
  })
  return { reads, tails, writer: file.writer, queries: () => queries }
}

const row: SessionRow = {
  key: 1,
  info: {
    id: 's',
    user: 'u',
    agent: 'a',
    title: '',
    status: 'running',
    lastSeq: 2,
    events: 2,
    runs: 1,
    createdAt: 1,
    updatedAt: 1,
  },
  leases: { epoch: 1, held: [] },
  partials: 0,
  widest: 1024,
  size: 0,
  parts: [],
}

test('a session that the writer knows is returned without a query', async () => {
  const { reads, queries } = await setUp(row)
  expect(await reads.get('s')).toEqual(row.info)
  expect(queries()).toBe(0)
})

test('a reader at the end of a session that the writer knows gets committed rows without a query', async () => {
  const { reads, tails, queries } = await setUp(row)
  const gone = new AbortController()
  const following = reads.followRaw('s', { after: 2, signal: gone.signal })[Symbol.asyncIterator]()
  const next = following.next()
  await new Promise((resolve) => setImmediate(resolve))
  const three = { seq: 3, at: 1, run: 'r', kind: 'other' as const, body: '{}' }
  tails.publish('s', () => [three])
  expect((await next).value).toEqual([three])
  expect(queries()).toBe(0)
  gone.abort()
  await following.return?.()
})

test('a session that the writer does not know is read from the file', async () => {
  const { reads, queries } = await setUp(undefined)
  expect(await reads.get('s')).toBeUndefined()
  expect(queries()).toBe(1)
})

test('rows that are in the file before their commit is known here are neither read nor streamed', async () => {
  const { reads, writer } = await setUp(row)
  await writer.exec(
    `INSERT INTO event (session, seq, at, run, mark, body)
     VALUES (1, 1, 1, 'r', 0, '{}'), (1, 2, 1, 'r', 0, '{}'), (1, 3, 1, 'r', 0, '{}')`,
  )
  expect((await reads.readRaw?.('s', { after: 0 }))?.map(({ seq }) => seq)).toEqual([1, 2])
  const gone = new AbortController()
  const following = reads.followRaw('s', { after: 0, signal: gone.signal })[Symbol.asyncIterator]()
  const { value } = await following.next()
  expect(value.map(({ seq }: { seq: number }) => seq)).toEqual([1, 2])
  gone.abort()
  await following.return?.()
})
