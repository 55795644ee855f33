import { type Draft, type EventLog, type Lease, MillraceError, type RawRecorded, type Recorded } from '@millrace/core'
import {
  acquire,
  checkHistory,
  checkNames,
  checkWriter,
  draftTime,
  emptySession,
  eventText,
  type Granted,
  isLive,
  release,
  renew,
  rowKindOf,
  takeOver,
  tally,
} from '@millrace/core/store'
import { rowKindNumbers } from '../row-kind.ts'
import type { Tails } from '../tail.ts'
import type { ReadConnection, WriteConnection } from './connection.ts'
import type { EventInserts } from './event-inserts.ts'
import type { Checkpoints } from './facts.ts'
import type { GroupCommit, Turn } from './group-commit.ts'
import { unindexSql } from './search.ts'
import type { SessionCache } from './session-cache.ts'
import type { SessionRow } from './session-row.ts'
import { type AnythingShared, type Share, sharedWrites } from './shared.ts'

type Writes = Pick<
  EventLog,
  'create' | 'rename' | 'remove' | 'append' | 'acquire' | 'renew' | 'release' | 'takeOver' | 'restore' | 'prune'
>

/** What the writing half of the log works with. */
export interface WriteDeps {
  readonly writer: WriteConnection
  readonly reader: ReadConnection
  readonly sessions: SessionCache
  readonly tails: Tails
  readonly now: () => number
  readonly commit: GroupCommit['run']
  readonly inserts: EventInserts
  readonly checkpoints: Checkpoints
  readonly shared: AnythingShared
}

export async function sqliteWrites(deps: WriteDeps): Promise<Writes> {
  return {
    ...sessionWrites(deps),
    ...appendWrites(deps, await sharedWrites(deps.writer, deps.shared)),
    ...leaseWrites(deps),
    ...(await retention(deps)),
  }
}

function sessionWrites(deps: WriteDeps): Pick<Writes, 'create' | 'rename' | 'remove' | 'restore'> {
  const { writer, sessions, tails, now, commit, inserts, checkpoints } = deps
  return {
    create: (created) => commit(() => make(deps, emptySession(created, now())).info),
    rename: (id, title) =>
      commit(() => {
        checkNames({ title })
        const session = sessions.must(id)
        const info = { ...session.info, title }
        sessions.change({ ...session, info })
        return info
      }),
    remove: (id) =>
      commit(async (turn) => {
        const { key, leases } = sessions.must(id)
        if (isLive(leases, now())) throw new MillraceError('busy', `session ${id} has an active run`, { session: id })
        sessions.forget(id)
        turn.onCommit(() => tails.end(id))
        turn.bulk()
        inserts.insertHere() // an append of the same transaction may be among what is deleted
        await writer.exec(
          `${unindexSql(key)} DELETE FROM event WHERE session = ${key}; DELETE FROM lease WHERE session = ${key}; DELETE FROM checkpoint WHERE session = ${key}; DELETE FROM session WHERE id = ${key}`,
        )
      }),
    restore: async (restored, rows) => {
      checkHistory(rows)
      const bodies = rows.map(({ event }) => eventText(event))
      return commit(async (turn) => {
        const session = await take(inserts, turn, make(deps, emptySession(restored, now())), rows, bodies)
        sessions.change(session)
        checkpoints.writeAll(session.key, rows)
        return session.info
      })
    },
  }
}

function make({ sessions }: WriteDeps, info: SessionRow['info']): SessionRow {
  if (sessions.find(info.id) !== undefined) {
    throw new MillraceError('conflict', `session ${info.id} exists`, { session: info.id })
  }
  const session = sessions.insert(info)
  sessions.change(session)
  return session
}

function appendWrites({ sessions, tails, now, commit, inserts }: WriteDeps, share: Share): Pick<Writes, 'append'> {
  return {
    append: async (id, drafts, holder) => {
      const bodies = drafts.map(({ event }) => eventText(event))
      return commit(async (turn) => {
        const session = sessions.must(id)
        checkWriter(session.leases, id, drafts, holder)
        const rows = recorded(drafts, session.info.lastSeq + 1, now())
        if (rows.length === 0) return rows
        sessions.change(await take(inserts, turn, session, rows, bodies))
        for (const [i, row] of rows.entries()) share(session.info, row, bodies[i] ?? '')
        turn.onCommit(() => tails.publish(id, () => rawOf(rows, bodies)))
        return rows
      })
    },
  }
}

function rawOf(rows: readonly Recorded[], bodies: readonly string[]): readonly RawRecorded[] {
  return rows.map(({ seq, at, run, event }, i) => ({ seq, at, run, kind: rowKindOf(event), body: bodies[i] ?? '' }))
}

function recorded(drafts: readonly Draft[], first: number, now: number): readonly Recorded[] {
  return drafts.map(({ at, run, event }, i) => ({ seq: first + i, at: draftTime(at, now), run, event }))
}

/** Adds the rows to the transaction and returns the session with them. */
async function take(
  inserts: EventInserts,
  turn: Turn,
  session: SessionRow,
  rows: readonly Recorded[],
  bodies: readonly string[],
): Promise<SessionRow> {
  let { partials, widest } = session
  for (let i = 0; i < rows.length; i++) {
    const [row, body] = [rows[i], bodies[i]]
    if (row === undefined || body === undefined) break
    const { seq, at, run, event } = row
    const mark = rowKindOf(event)
    inserts.add([session.key, seq, at, run, rowKindNumbers[mark], body])
    if (mark === 'partial') partials += 1
    while (body.length * 3 > widest) widest = Math.max(1024, widest * 2) // UTF-8 takes at most three bytes per unit
    turn.wrote(body.length)
    if (inserts.isMuch) await inserts.insertInTurns()
  }
  return { ...session, info: tally(session.info, rows), partials, widest }
}

function leaseWrites({
  sessions,
  now,
  commit,
  checkpoints,
}: WriteDeps): Pick<Writes, 'acquire' | 'renew' | 'release' | 'takeOver'> {
  const grant = (id: string, decide: (session: SessionRow) => Granted): Promise<Lease> =>
    commit(() => {
      const session = sessions.must(id)
      const { leases, lease } = decide(session)
      sessions.changeLeases(session, leases)
      return lease
    })
  return {
    acquire: (session, run, owner, ttl) =>
      grant(session, ({ leases }) => acquire(leases, { session, run, owner }, ttl, now())),
    renew: (lease, ttl) => grant(lease.session, ({ leases }) => renew(leases, lease, ttl, now())),
    takeOver: (dead, owner, ttl) =>
      grant(dead.session, ({ leases }) => takeOver(leases, { ...dead, owner }, ttl, now())),
    release: (lease) =>
      commit(() => {
        const session = sessions.find(lease.session)
        if (session === undefined) return
        sessions.changeLeases(session, release(session.leases, lease))
        checkpoints.writeDue(session) // off the way of readers: the run is over
      }),
  }
}

/** Prunes one session per transaction, so that appends do not wait for all of them. */
async function retention({
  writer,
  reader,
  sessions,
  tails,
  commit,
  inserts,
}: WriteDeps): Promise<Pick<Writes, 'prune'>> {
  const candidates = reader.prepare('SELECT name FROM session WHERE partials > 0')
  const changes = await writer.prepare('SELECT changes()')
  const pruneOne = (id: string, before: number): Promise<number> =>
    commit(async (turn) => {
      const session = sessions.find(id)
      if (session === undefined) return 0
      turn.bulk()
      inserts.insertHere()
      await writer.exec(pruneSql(session.key, before))
      const gone = Number(changes.first([])?.[0])
      sessions.change({
        ...session,
        partials: session.partials - gone,
        info: { ...session.info, events: session.info.events - gone },
      })
      turn.onCommit(() => tails.forget(id))
      return gone
    })
  return {
    prune: async (before) => {
      if (Number.isNaN(before))
        throw new MillraceError('invalid', '`before` must be a time in ms, not NaN', { field: 'before' })
      const limit = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, before))
      let gone = 0
      for (const [id] of candidates([])) gone += await pruneOne(String(id), limit)
      return gone
    },
  }
}

/** The SQL holds its numbers as text, because `exec`, which runs on another thread, takes no parameters. */
function pruneSql(key: number, before: number): string {
  const ofSession = `FROM event WHERE session = ${key}`
  return `DELETE ${ofSession} AND mark = ${rowKindNumbers.partial}
    AND run IN (SELECT run ${ofSession} GROUP BY run HAVING max(mark = ${rowKindNumbers.end}) = 1 AND max(at) < ${before})
    AND (run, json_extract(body, '$.message')) IN
      (SELECT run, json_extract(body, '$.message') ${ofSession} AND mark = ${rowKindNumbers.whole})`
}
