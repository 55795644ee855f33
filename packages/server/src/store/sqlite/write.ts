import { type EventLog, type Lease, MillraceError, type RawRecorded, type Recorded } from '@millrace/core'
import { checkHistory, checkNames, checkWriter, emptySession, release, tally } from '@millrace/core/store'
import { type Grant, leaseGrants } from '../lease-grants.ts'
import { countedRows, printedOf, rawRowsOf, rowsFrom } from '../new-rows.ts'
import { pruneLimit, taken } from '../refusals.ts'
import { rowKindNumbers } from '../row-kind.ts'
import { partsOfFork } from '../shared-part.ts'
import type { Tails } from '../tail.ts'
import type { ReadConnection, WriteConnection } from './connection.ts'
import type { EventInserts } from './event-inserts.ts'
import { widestOfStrips } from './event-row.ts'
import type { Checkpoints } from './facts.ts'
import type { GroupCommit, Turn } from './group-commit.ts'
import type { Leftovers } from './leftovers.ts'
import { type PromisedLeases, promisedLeases } from './promised-leases.ts'
import { removing } from './remove.ts'
import { restoring } from './restore.ts'
import type { SessionCache } from './session-cache.ts'
import type { SessionRow } from './session-row.ts'
import { type AnythingShared, type Share, sharedWrites } from './shared.ts'
import { isSharedRowSql, sharedTally } from './shared-rows.ts'
import { type SpareRoom, withSpareRoom } from './spare-room.ts'
import { eventsInRow, isPartialRow, messageOfRow, storedRows, stripSplitter, textInRow, textStored } from './strips.ts'

type Writes = Pick<
  EventLog,
  | 'create'
  | 'rename'
  | 'remove'
  | 'forgetUser'
  | 'append'
  | 'acquire'
  | 'renew'
  | 'release'
  | 'takeOver'
  | 'restore'
  | 'restorePages'
  | 'fork'
  | 'prune'
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
  readonly spare: SpareRoom
  readonly leftovers: Leftovers
}

export async function sqliteWrites(deps: WriteDeps): Promise<Writes> {
  const promised = promisedLeases(deps.now)
  return {
    ...(await sessionWrites(deps, deps.leftovers)),
    ...(await restoring(deps, deps.leftovers)),
    ...(await forkWrites(deps)),
    ...appendWrites(deps, await sharedWrites(deps.writer, deps.shared), promised),
    ...leaseWrites(deps, promised),
    ...(await forgetting(deps)),
    ...(await retention(deps)),
  }
}

async function sessionWrites(
  deps: WriteDeps,
  leftovers: Leftovers,
): Promise<Pick<Writes, 'create' | 'rename' | 'remove'>> {
  const { sessions, now, commit, spare } = deps
  const remove = await removing(deps, leftovers)
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
    remove: (id) => withSpareRoom(spare, () => remove(id)),
  }
}

async function forkWrites(deps: WriteDeps): Promise<Pick<Writes, 'fork'>> {
  const { writer, sessions, now, commit, inserts } = deps
  const put = await writer.prepare('INSERT INTO shared_rows (session, origin, upto) VALUES (?, ?, ?)')
  const tallied = await sharedTally(writer)
  const split = await stripSplitter(writer)
  const nameOf = await writer.prepare('SELECT name FROM session WHERE id = ?')
  const grow = (key: number, size: number): void => {
    const [name] = (size === 0 ? undefined : nameOf.first([key])) ?? []
    const session = typeof name === 'string' ? sessions.find(name) : undefined
    if (session !== undefined) sessions.change({ ...session, size: session.size + size })
  }
  return {
    fork: async (source, seq, wanted, ends) => {
      checkHistory(ends)
      const raw = rawRowsOf(ends, ends.map(printedOf))
      return commit(async (turn) => {
        const origin = sessions.must(source)
        if (seq > origin.info.lastSeq)
          throw new MillraceError('invalid', `session ${source} has no seq ${seq}`, { session: source, seq })
        const made = make(deps, emptySession(wanted, now()))
        const parts = partsOfFork(origin, seq)
        inserts.insertHere() // an append of the same transaction may be among what is shared
        for (const { origin: key, upTo } of parts) {
          grow(key, split(key, upTo))
          put.run([made.key, key, upTo])
        }
        const info = { ...tallied(made.info, parts), lastSeq: seq }
        const session = take(inserts, turn, { ...made, info, parts, widest: origin.widest }, ends, raw)
        sessions.change(session)
        if (inserts.isMuch) await inserts.insertInTurns()
        return session.info
      })
    },
  }
}

function make({ sessions }: WriteDeps, info: SessionRow['info']): SessionRow {
  if (sessions.find(info.id) !== undefined) throw taken(info.id)
  const session = sessions.insert(info)
  sessions.change(session)
  return session
}

function appendWrites(
  { sessions, tails, now, commit, inserts, checkpoints }: WriteDeps,
  share: Share,
  promised: PromisedLeases,
): Pick<Writes, 'append'> {
  const freed = releasing(sessions, checkpoints)
  return {
    append: async (id, drafts, holder, { last = false } = {}) => {
      const printed = drafts.map(printedOf)
      return commit((turn) => {
        const found = sessions.must(id)
        const leases = promised.with(found, holder)
        checkWriter(leases, id, drafts, holder)
        if (leases !== found.leases) sessions.changeLeases(found, leases)
        const session = { ...found, leases }
        const rows = rowsFrom(drafts, session.info.lastSeq + 1, now())
        if (rows.length === 0) return rows
        const raw = rawRowsOf(rows, printed)
        const longer = take(inserts, turn, session, rows, raw)
        if (last && holder !== undefined) freed(longer, holder)
        else sessions.change(longer)
        for (const [i, row] of rows.entries())
          if (raw[i]?.kind !== 'partial') share(session.info, row, raw[i]?.body ?? '')
        turn.tell(() => tails.publish(id, () => raw))
        return inserts.isMuch ? inserts.insertInTurns().then(() => rows) : rows
      })
    },
  }
}

/** Releases a lease inside a transaction. */
function releasing(sessions: SessionCache, checkpoints: Checkpoints) {
  return (session: SessionRow, lease: Pick<Lease, 'run' | 'epoch'>): void => {
    sessions.changeLeases(session, release(session.leases, lease))
    checkpoints.writeDue(session) // off the way of readers: the run is over
  }
}

/** Adds the rows to the transaction and returns the session with them. */
function take(
  inserts: EventInserts,
  turn: Turn,
  session: SessionRow,
  rows: readonly Recorded[],
  raw: readonly RawRecorded[],
): SessionRow {
  const stored = storedRows(session.key, rows, raw)
  let { size } = session
  for (const row of stored) {
    size += textStored(row)
    inserts.add(row)
    turn.wrote(row[5].length)
  }
  const counts = countedRows(session, raw)
  const widest = stored.length === raw.length ? counts.widest : Math.max(counts.widest, widestOfStrips)
  return { ...session, ...counts, widest, size, info: tally(session.info, rows) }
}

function leaseWrites(
  { sessions, now, commit, checkpoints }: WriteDeps,
  promised: PromisedLeases,
): Pick<Writes, 'acquire' | 'renew' | 'release' | 'takeOver'> {
  const grant: Grant = (id, decide) =>
    commit(() => {
      const session = sessions.must(id)
      const { leases, lease } = decide(session.leases)
      sessions.changeLeases(session, leases)
      return lease
    })
  const freed = releasing(sessions, checkpoints)
  const granted = leaseGrants(grant, now)
  return {
    ...granted,
    acquire: async (session, run, owner, ttl, { withFirst = false } = {}) => {
      const known = withFirst ? sessions.committedRow(session) : undefined
      if (known === undefined) return granted.acquire(session, run, owner, ttl)
      return promised.promise(known, { session, run, owner }, ttl)
    },
    release: async (lease) => {
      promised.giveUp(lease)
      // The last rows of the run may have released it.
      const known = sessions.committedRow(lease.session)
      if (known !== undefined && release(known.leases, lease) === known.leases) return
      await commit(() => {
        const session = sessions.find(lease.session)
        if (session !== undefined) freed(session, lease)
      })
    },
  }
}

async function forgetting({ writer, commit }: WriteDeps): Promise<Pick<Writes, 'forgetUser'>> {
  const state = await writer.prepare("DELETE FROM shared_state WHERE user = ?1 AND user <> ''")
  const artifacts = await writer.prepare("DELETE FROM shared_artifact WHERE user = ?1 AND user <> ''")
  return {
    forgetUser: (user) =>
      commit(() => {
        state.run([user])
        artifacts.run([user])
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
  const left = await writer.prepare(
    `SELECT coalesce(sum(iif(${isPartialRow}, ${eventsInRow}, 0)), 0), coalesce(sum(${textInRow}), 0)
     FROM event WHERE session = ?`,
  )
  const pruneOne = (id: string, before: number): Promise<number> =>
    commit(async (turn) => {
      const session = sessions.find(id)
      if (session === undefined) return 0
      turn.bulk()
      inserts.insertHere()
      await writer.exec(pruneSql(session.key, before))
      if (Number(changes.first([])?.[0]) === 0) return 0
      const [partials, size] = (left.first([session.key]) ?? []).map(Number)
      const gone = session.partials - (partials ?? 0)
      sessions.change({
        ...session,
        partials: partials ?? 0,
        size: size ?? 0,
        info: { ...session.info, events: session.info.events - gone },
      })
      turn.tell(() => tails.forget(id))
      return gone
    })
  return {
    prune: async (before) => {
      const limit = pruneLimit(before)
      let gone = 0
      for (const [id] of candidates([])) gone += await pruneOne(String(id), limit)
      return gone
    },
  }
}

/** The SQL holds its numbers as text, because `exec`, which runs on another thread, takes no parameters. */
function pruneSql(key: number, before: number): string {
  const ofSession = `FROM event WHERE session = ${key}`
  return `DELETE ${ofSession} AND ${isPartialRow} AND NOT ${isSharedRowSql(key)}
    AND run IN (SELECT run ${ofSession} GROUP BY run HAVING max(mark = ${rowKindNumbers.end}) = 1 AND max(at) < ${before})
    AND (run, ${messageOfRow}) IN
      (SELECT run, json_extract(body, '$.message') ${ofSession} AND mark = ${rowKindNumbers.whole})`
}
