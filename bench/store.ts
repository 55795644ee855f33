import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adk, type DialectName, millrace, type Recorded, type RunEvent } from '@millrace/core'
import { type Sink, type SqliteLog, type Streams, sqliteLog, streams } from '@millrace/server'
import Database from 'libsql'
import { migrations } from '../packages/server/src/store/sqlite/schema.ts'
import { median, type Row, sideBySideAsync } from './kit/row.ts'

/** Durable appends against a bare libsql loop, and a replay against reading and writing the same rows raw. */
export async function bench(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const log = await sqliteLog({ folder: join(folder, 'ours'), now: Date.now })
  const bare = bareLoop(join(folder, 'bare.db'))
  const disk = bareFile(join(folder, 'bare.log'))
  try {
    await warmUp(log, bare)
    const rows: Row[] = []
    for (const batch of [1, 10, 100]) rows.push(await append(log, bare, disk, batch, 1))
    rows.push(await append(log, bare, disk, 100, 100))
    rows.push(...(await replays(log, join(folder, 'ours', 'millrace.db'))))
    return rows
  } finally {
    await log.close()
    bare.close()
    disk.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Commits in one measurement: a few milliseconds, so that ours and the peer's lie close together. */
const rounds = 20
/** A disk's fsync takes now half, now twice as long: many short pairs, or the median is a matter of luck. */
const pairs = 151

/** A server lives longer than a benchmark: both sides are compiled before they are measured. */
async function warmUp(log: SqliteLog, bare: Bare): Promise<void> {
  await log.create({ id: 'warm', user: 'u', agent: 'a' })
  const [event] = tokens(1)
  if (event === undefined) return
  for (let i = 0; i < 3000; i++) {
    await log.append('warm', [{ run: '', event }])
    bare.append([event], 1)
  }
}

/** `batch` events a commit, from as many appends as there are sessions: one caller's batch, or many callers' single ones. */
async function append(log: SqliteLog, bare: Bare, disk: Disk, batch: number, sessions: number): Promise<Row> {
  const ids = Array.from({ length: sessions }, (_, i) => `append ${batch} ${i} of ${sessions}`)
  for (const id of ids) await log.create({ id, user: 'u', agent: 'a' })
  const drafts = tokens(batch / sessions).map((event) => ({ run: '', event }))
  const events = tokens(batch)
  const { ours, peer, ratio } = await sideBySideAsync(
    async () => {
      for (let i = 0; i < rounds; i++) await Promise.all(ids.map((id) => log.append(id, drafts)))
    },
    async () => {
      for (let i = 0; i < rounds; i++) bare.append(events, sessions)
    },
    pairs,
  )
  const perSecond = (milliseconds: number): number => (batch * rounds * 1000) / milliseconds
  const limit = median(Array.from({ length: 9 }, () => disk.append(events, rounds)))
  const from = sessions === 1 ? 'by one run' : `by ${sessions} runs at once`
  return {
    what: `durable append (WAL, synchronous=FULL), ${batch} to a commit, ${from}, events/s`,
    ours: perSecond(ours),
    peer: 'a bare libsql loop of the same writes',
    peerValue: perSecond(peer),
    limit: `${Math.round(perSecond(limit)).toLocaleString('en')} by a file and fdatasync`,
    ratio: 1 / ratio,
    bar: '>= 0.7',
    ok: 1 / ratio >= 0.7,
  }
}

const replayed = 10_000
const before = 100

/** Last-Event-ID 100 of a session of 10,100, through the fan-out, into a sink that takes everything. */
async function replays(log: SqliteLog, file: string): Promise<Row[]> {
  const rows = tokens(before + replayed).map((event, i): Recorded => ({ seq: i + 1, at: i, run: 'r', event }))
  await log.restore({ id: 'long', user: 'u', agent: 'a' }, rows)
  const fanOut = streams({ log, dialects: [adk, millrace] })
  const database = new Database(file, {})
  const page = database
    .prepare(
      `SELECT seq, body FROM event WHERE session = (SELECT id FROM session WHERE name = 'long') AND seq > ?
       ORDER BY seq LIMIT 500`,
    )
    .raw()
  const bare = (data: (body: string) => string) => async (): Promise<void> => {
    for (let after = before; after < before + replayed; after += 500) {
      const frames = page.all([after]).filter(isRow)
      Buffer.from(frames.map(([seq, body]) => `id: ${seq}\ndata: ${data(body)}\n\n`).join(''))
    }
  }
  const what = `replay of ${replayed.toLocaleString('en')} events after Last-Event-ID`
  try {
    return [
      await replay(
        fanOut,
        'millrace',
        `${what}, ms`,
        'the same rows read and written raw',
        bare((body) => body),
      ),
      await replay(
        fanOut,
        'adk',
        `${what}, translated to ADK frames, ms`,
        'the same rows parsed and printed',
        bare((body) => JSON.stringify(JSON.parse(body).event)),
      ),
    ]
  } finally {
    fanOut.close()
    database.close()
  }
}

async function replay(
  fanOut: Streams,
  dialect: DialectName,
  what: string,
  peerName: string,
  bare: () => Promise<void>,
): Promise<Row> {
  const last = `id: ${before + replayed}\n`
  const ours = async (take: (bytes: Buffer) => void = () => undefined): Promise<void> => {
    const left = new AbortController()
    const sink = countingSink((bytes) => {
      take(bytes)
      if (bytes.includes(last)) left.abort()
    })
    await fanOut.open('long', { dialect, after: before, signal: left.signal }, sink)
  }
  let text = ''
  await ours((bytes) => {
    text += bytes.toString('latin1')
  })
  const frames = text.match(/^id: \d+$/gm)?.length
  if (frames !== replayed) throw new Error(`${frames} of ${replayed} frames came`)
  const { ours: mine, peer, ratio } = await sideBySideAsync(() => ours(), bare)
  return {
    what,
    ours: mine,
    peer: peerName,
    peerValue: peer,
    limit: 'reading the rows, 0.7x of writing them raw',
    ratio,
    bar: '<= 3',
    ok: ratio <= 3,
  }
}

function isRow(value: unknown): value is readonly [number, string] {
  return Array.isArray(value)
}

function countingSink(take: (bytes: Buffer) => void): Sink {
  return {
    chunked: true,
    write: (bytes) => {
      take(bytes)
      return true
    },
    onDrain: () => undefined,
    end: () => undefined,
    destroy: () => undefined,
  }
}

/** Tokens as an ADK model streams them: 350 bytes each. */
function tokens(count: number): RunEvent[] {
  return Array.from({ length: count }, (_, i) => ({
    kind: 'agent',
    message: 'e-5ffa-4fb8',
    node: 'coordinator@1',
    event: {
      id: `e${i.toString(36).padStart(7, '0')}`,
      invocationId: 'e-a3237f79-5ffa-4fb8-b6b3-f71faa15d712',
      author: 'coordinator',
      timestamp: 1_762_500_000_000 + i,
      partial: true,
      content: { role: 'model', parts: [{ text: `word${i} ` }] },
      usageMetadata: { promptTokenCount: 812, candidatesTokenCount: i, totalTokenCount: 812 + i },
      actions: { stateDelta: {}, artifactDelta: {} },
    },
  }))
}

interface Bare {
  /** One commit: these events, to one session or one to each of as many, and the rows of those sessions. */
  append(events: readonly RunEvent[], sessions: number): void
  close(): void
}

/** The least that the same durable append can be: the same tables and rows, prepared statements, nothing else. */
function bareLoop(file: string): Bare {
  const database = new Database(file, {})
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${migrations.map(({ sql }) => sql).join(';')}`)
  const made = database.prepare(
    `INSERT INTO session (id, name, user, agent, title, search, status, last_seq, events, runs, created_at, updated_at,
       epoch, partials, widest) VALUES (?, ?, 'u', 'a', '', '', 'idle', 0, 0, 0, 0, 0, 0, 0, 0)`,
  )
  for (let id = 0; id < 100; id++) made.run([id, `session ${id}`])
  const [begin, insert, count, commit] = [
    database.prepare('BEGIN IMMEDIATE'),
    database.prepare('INSERT INTO event (session, seq, at, run, mark, body) VALUES (?, ?, ?, ?, ?, ?)'),
    database.prepare('UPDATE session SET last_seq = ?, events = ?, updated_at = ?, partials = ? WHERE id = ?'),
    database.prepare('COMMIT'),
  ]
  let seq = 0
  return {
    append: (events, sessions) => {
      begin.run([])
      for (const [i, event] of events.entries()) {
        insert.run([i % sessions, ++seq, 1_762_500_000_000, '', 2, JSON.stringify(event)])
      }
      for (let session = 0; session < sessions; session++) {
        count.run([seq, seq, 1_762_500_000_000 + seq, seq, session])
      }
      commit.run([])
    },
    close: () => void database.close(),
  }
}

interface Disk {
  /** Milliseconds for `rounds` rounds. */
  append(events: readonly RunEvent[], rounds: number): number
  close(): void
}

function bareFile(path: string): Disk {
  const file = openSync(path, 'a')
  return {
    append: (events, times) => {
      const begun = performance.now()
      for (let i = 0; i < times; i++) {
        writeSync(file, events.map((event) => JSON.stringify(event)).join('\n'))
        fdatasyncSync(file)
      }
      return performance.now() - begun
    },
    close: () => closeSync(file),
  }
}
