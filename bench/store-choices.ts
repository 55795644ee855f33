import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { RawRecorded } from '@millrace/core'
import { type CommitTiming, commitTiming } from '../packages/server/src/store/sqlite/commit-timing.ts'
import type { ReadConnection, WriteConnection } from '../packages/server/src/store/sqlite/connection.ts'
import { eventPages } from '../packages/server/src/store/sqlite/event-row.ts'
import { openSqliteFile } from '../packages/server/src/store/sqlite/file.ts'
import { type GroupCommit, groupCommit } from '../packages/server/src/store/sqlite/group-commit.ts'
import { median, type Row, sideBySide, sideBySideAsync } from './kit/row.ts'

/** Two choices of the SQLite store, each measured against the simpler way; one that stops paying should be deleted. */
export async function bench(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const file = await openSqliteFile({ folder, now: 0 })
  try {
    const write = await inserter(file.writer)
    return [
      await loneRun(file.writer, write),
      await stalls(file.writer, write),
      await textPages(file.reader, file.writer),
    ]
  } finally {
    await file.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const body = JSON.stringify({ kind: 'log', level: 'info', message: 'x'.repeat(300) })

async function inserter(writer: WriteConnection): Promise<(session: number) => void> {
  const insert = await writer.prepare('INSERT INTO event (session, seq, at, run, mark, body) VALUES (?, ?, ?, ?, ?, ?)')
  let seq = 0
  return (session) => void insert.run([session, ++seq, 1_762_500_000_000 + seq, 'run', 2, body])
}

/** One caller that appends one event at a time, each awaited. */
async function appendOneByOne(group: GroupCommit, write: (session: number) => void, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    await group.run(async (turn) => {
      write(1)
      await turn.wrote(body.length)
    })
  }
}

const noHooks = { beforeCommit: () => undefined, committed: () => undefined, rolledBack: () => undefined }
/** The rows here are inserted by the bench itself. */
const noInserts = { insertHere: () => undefined, takeSql: () => '' }
/** SQLite copies the WAL by itself, inside a COMMIT. */
const noCopier = { copy: async () => undefined }
const grouped = (writer: WriteConnection, timing: CommitTiming): Promise<GroupCommit> =>
  groupCommit(writer, 'bench', noHooks, timing)
const ours = (writer: WriteConnection): Promise<CommitTiming> =>
  commitTiming(writer, noInserts, noCopier, () => performance.now())

/** The same, but each COMMIT runs on libsql's thread, as those of whole sessions (`bulk`) do. */
const alwaysAway = async (writer: WriteConnection): Promise<CommitTiming> => {
  const timing = await ours(writer)
  return { ...timing, commit: (size) => timing.commit({ ...size, bulk: true }) }
}
/** The same, but each COMMIT runs on this thread. */
const alwaysHere = async (writer: WriteConnection): Promise<CommitTiming> => {
  const commit = await writer.prepare('COMMIT')
  return { ...(await ours(writer)), commit: async () => void commit.run([]) }
}

async function loneRun(writer: WriteConnection, write: (session: number) => void): Promise<Row> {
  const [mine, theirs] = [await grouped(writer, await ours(writer)), await grouped(writer, await alwaysAway(writer))]
  const rounds = 20
  const {
    ours: fast,
    peer,
    ratio,
  } = await sideBySideAsync(
    () => appendOneByOne(mine, write, rounds),
    () => appendOneByOne(theirs, write, rounds),
    151,
  )
  return {
    what: 'commits of a lone run on this disk (commit-timing), commits/s',
    ours: (rounds * 1000) / fast,
    peer: 'every COMMIT on a thread of libsql',
    peerValue: (rounds * 1000) / peer,
    limit: 'the fsync',
    ratio: 1 / ratio,
    bar: '>= 1',
    ok: 1 / ratio >= 1,
  }
}

/** How much longer a commit takes on the slow disk, in ms; network disks and busy laptops have such times. */
const slowness = 20

/**
 * This disk with a wait before each COMMIT, on the thread that runs it. Like an fsync, the wait blocks that thread and
 * uses no CPU. A benchmark cannot slow down a real disk, because that needs the rights of an administrator.
 */
function slowDisk(writer: WriteConnection): WriteConnection {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  return {
    ...writer,
    exec: async (sql) => {
      if (sql === 'COMMIT') await pause(slowness)
      await writer.exec(sql)
    },
    prepare: async (sql) => {
      const statement = await writer.prepare(sql)
      if (sql !== 'COMMIT') return statement
      return {
        ...statement,
        run: (values) => {
          Atomics.wait(cell, 0, 0, slowness)
          return statement.run(values)
        },
      }
    },
  }
}

const slowCommits = 50

/** How long commits block this thread, in ms, while a lone run writes. */
async function blocked(
  writer: WriteConnection,
  timing: typeof ours,
  write: (session: number) => void,
): Promise<number> {
  let total = 0
  const measured: WriteConnection = {
    ...writer,
    prepare: async (sql) => {
      const statement = await writer.prepare(sql)
      if (sql !== 'COMMIT') return statement
      return {
        ...statement,
        run: (values) => {
          const begun = performance.now()
          const rowid = statement.run(values)
          total += performance.now() - begun
          return rowid
        },
      }
    },
  }
  await appendOneByOne(await grouped(measured, await timing(measured)), write, slowCommits)
  return total
}

async function stalls(writer: WriteConnection, write: (session: number) => void): Promise<Row> {
  const slow = slowDisk(writer)
  const pairs: { mine: number; theirs: number }[] = []
  for (let i = 0; i < 3; i++)
    pairs.push({ mine: await blocked(slow, ours, write), theirs: await blocked(slow, alwaysHere, write) })
  const ratio = median(pairs.map(({ mine, theirs }) => mine / theirs))
  return {
    what: `time that ${slowCommits} commits block this thread on a disk that is ${slowness} ms slower (commit-timing), ms`,
    ours: median(pairs.map(({ mine }) => mine)),
    peer: 'every COMMIT on this thread',
    peerValue: median(pairs.map(({ theirs }) => theirs)),
    limit: 'one fsync, by which a slow disk is noticed',
    ratio,
    bar: '<= 0.1',
    ok: ratio <= 0.1,
  }
}

const read = 10_000

/** Reading makes no fsync, so a slow disk changes neither side. */
async function textPages(reader: ReadConnection, writer: WriteConnection): Promise<Row> {
  await writer.exec('BEGIN')
  const insert = await writer.prepare(
    `INSERT INTO event (session, seq, at, run, mark, body) VALUES (2, ?, ?, 'run', 2, ?)`,
  )
  for (let seq = 1; seq <= read; seq++) insert.run([seq, seq, body])
  await writer.exec('COMMIT')
  const pages = eventPages(reader)
  const cells = reader.prepare(
    'SELECT seq, at, run, mark, body FROM event WHERE session = 2 AND seq > ? ORDER BY seq LIMIT 500',
  )
  const kinds = ['other', 'whole', 'partial', 'end', 'start'] as const
  const byCell = (after: number): readonly RawRecorded[] =>
    cells([after]).map(([seq, at, run, mark, text]) => ({
      seq: Number(seq),
      at: Number(at),
      run: String(run),
      kind: kinds[Number(mark)] ?? 'other',
      body: String(text),
    }))
  const all = (next: (after: number) => readonly RawRecorded[]): void => {
    let rows = 0
    for (let page = next(0); page.length > 0; page = next(page.at(-1)?.seq ?? 0)) rows += page.length
    if (rows !== read) throw new Error(`${rows} of ${read} rows were read`)
  }
  const {
    ours: mine,
    peer,
    ratio,
  } = sideBySide(
    () =>
      all((after) =>
        pages.next(
          { key: 2, widest: 1024, parts: [], lastSeq: Number.POSITIVE_INFINITY },
          after,
          Number.POSITIVE_INFINITY,
        ),
      ),
    () => all(byCell),
  )
  return {
    what: `reading ${read.toLocaleString('en')} rows as pages of text (event-row), ms`,
    ours: mine,
    peer: 'the same rows cell by cell',
    peerValue: peer,
    limit: 'SQLite itself',
    ratio,
    bar: '<= 0.8',
    ok: ratio <= 0.8,
  }
}
