import { type EventLog, type Lease, MillraceError, type Recorded } from '@millrace/core'
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
  takeOver,
  tally,
} from '@millrace/core/store'
import type { Tails } from '../tail.ts'
import type { PgConnection } from './connection.ts'
import { type EventRow, eventRowOf } from './event-row.ts'
import type { PgCheckpoints } from './facts.ts'
import type { ReadStarts } from './read-starts.ts'
import { pruneSession } from './retention.ts'
import { insertEvents, type SessionDraft, type SessionQueue } from './session-queue.ts'
import { type PgSession, pgInsertSession, pgInsertValues, pgRowColumns, pgSessionOf } from './session-row.ts'
import { sharing } from './shared.ts'
import { bequeathRows, linkRows, lockSource, pgPartsIn, pgSharedTally } from './shared-rows.ts'

type Writes = Pick<
  EventLog,
  | 'create'
  | 'rename'
  | 'remove'
  | 'append'
  | 'acquire'
  | 'renew'
  | 'release'
  | 'takeOver'
  | 'restore'
  | 'fork'
  | 'prune'
  | 'remember'
>

/** What the writing half of the log works with. */
export interface PgWriteDeps {
  readonly connection: PgConnection
  readonly queue: SessionQueue
  readonly tails: Tails
  readonly now: () => number
  readonly newId: () => string
  readonly checkOpen: () => void
  readonly checkpoints: PgCheckpoints
  readonly starts: ReadStarts
  /** Called after a change that the queue does not make itself. */
  readonly changed: (id: string) => void
}

export function postgresWrites(deps: PgWriteDeps): Writes {
  return { ...sessionWrites(deps), ...appendWrites(deps), ...leaseWrites(deps) }
}

function sessionWrites(
  deps: PgWriteDeps,
): Pick<Writes, 'create' | 'rename' | 'remove' | 'restore' | 'fork' | 'prune' | 'remember'> {
  const { connection, queue, tails, now, newId, checkOpen, checkpoints, changed, starts } = deps
  return {
    create: async (created) => {
      checkOpen()
      const row = newRow(emptySession(created, now()), newId())
      return queue.alone(row.info.id, async () => {
        const stamp = newId()
        const [made] = await connection.query(pgInsertSession, pgInsertValues(row, stamp))
        // A statement that was sent twice finds its own row.
        if (made === undefined && !(await isOwn(connection, row, stamp))) throw taken(row.info.id)
        return row.info
      })
    },
    rename: async (id, title) => {
      checkOpen()
      checkNames({ title })
      return queue.change(id, (draft) => {
        const row = must(draft, id)
        draft.row = { ...row, info: { ...row.info, title } }
        return draft.row.info
      })
    },
    remember: async (id) => {
      checkOpen()
      return queue.change(id, (draft) => {
        const row = must(draft, id)
        draft.row = { ...row, remembered: row.info.lastSeq }
      })
    },
    remove: async (id) => {
      checkOpen()
      return queue.alone(id, async () => {
        await starts.settled(id)
        await connection.transaction(async (query) => {
          const [found] = await query(`SELECT ${pgRowColumns}, s.parts FROM session s WHERE s.id = $1 FOR UPDATE`, [id])
          if (found === undefined) throw notFound(id)
          if (isLive(pgSessionOf(found).leases, now()))
            throw new MillraceError('busy', `session ${id} has an active run`, { session: id })
          await bequeathRows(query, id, pgPartsIn(String(found.at(-1))))
          for (const table of ['event', 'checkpoint', 'message_text'])
            await query(`DELETE FROM ${table} WHERE session = $1`, [id])
          await query('DELETE FROM session WHERE id = $1', [id])
        })
        checkpoints.forget(id)
        tails.end(id)
        changed(id)
      })
    },
    restore: async (restored, rows) => {
      checkOpen()
      checkHistory(rows)
      const events = rows.map((row) => eventRowOf(row, eventText(row.event)))
      const empty = newRow(emptySession(restored, now()), newId())
      const row = withEvents(empty, rows, events)
      return queue.alone(row.info.id, async () => {
        await connection.transaction(async (query) => {
          const [made] = await query(pgInsertSession, pgInsertValues(row, newId()))
          if (made === undefined) throw taken(row.info.id)
          await insertEvents(query, row.info.id, events)
          await checkpoints.writeAll(query, row.info.id, rows)
        })
        return row.info
      })
    },
    fork: async (source, seq, wanted, ends) => {
      checkOpen()
      checkHistory(ends)
      const events = ends.map((row) => eventRowOf(row, eventText(row.event)))
      const empty = newRow(emptySession(wanted, now()), newId())
      return queue.alone(empty.info.id, () =>
        connection.transaction(async (query) => {
          const { session, parts } = await lockSource(query, source, seq)
          if (seq > session.info.lastSeq)
            throw new MillraceError('invalid', `session ${source} has no seq ${seq}`, { session: source, seq })
          const info = { ...(await pgSharedTally(query, empty.info, parts)), lastSeq: seq }
          const row = withEvents({ ...empty, info, widest: session.widest }, ends, events)
          const [made] = await query(pgInsertSession, pgInsertValues(row, newId()))
          if (made === undefined) throw taken(row.info.id)
          await insertEvents(query, row.info.id, events)
          await linkRows(query, row.info.id, parts)
          return row.info
        }),
      )
    },
    prune: async (before) => {
      checkOpen()
      if (Number.isNaN(before))
        throw new MillraceError('invalid', '`before` must be a time in ms, not NaN', { field: 'before' })
      const limit = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, before))
      let gone = 0
      for (const [id] of await connection.query('SELECT id FROM session WHERE partials > 0')) {
        const name = String(id)
        gone += await queue.alone(name, () => pruneSession(connection, name, limit))
        tails.forget(name)
      }
      return gone
    },
  }
}

function appendWrites({ queue, tails, now, checkOpen }: PgWriteDeps): Pick<Writes, 'append'> {
  return {
    append: async (id, drafts, holder) => {
      checkOpen()
      const bodies = drafts.map(({ event, printed }) => printed?.text ?? eventText(event))
      return queue.change(id, (draft) => {
        const session = must(draft, id)
        checkWriter(session.leases, id, drafts, holder)
        const at = now()
        const rows = drafts.map(({ at: told, run, event }, i) => ({
          seq: session.info.lastSeq + 1 + i,
          at: draftTime(told, at),
          run,
          event,
        }))
        if (rows.length === 0) return rows
        const events = rows.map((row, i) => eventRowOf(row, bodies[i] ?? '', drafts[i]?.printed?.row))
        draft.row = withEvents(session, rows, events)
        draft.events.push(...events)
        draft.more.push(...sharing(session.info, rows, bodies, at))
        draft.effects.push(() => tails.publish(id, () => events.map(({ message: _, ...row }) => row)))
        return rows
      })
    },
  }
}

function leaseWrites({
  queue,
  now,
  checkOpen,
  checkpoints,
}: PgWriteDeps): Pick<Writes, 'acquire' | 'renew' | 'release' | 'takeOver'> {
  const grant = async (id: string, decide: (row: PgSession) => Granted): Promise<Lease> => {
    checkOpen()
    return queue.change(id, (draft) => {
      const row = must(draft, id)
      const { leases, lease } = decide(row)
      draft.row = { ...row, leases }
      return lease
    })
  }
  return {
    acquire: (session, run, owner, ttl) =>
      grant(session, ({ leases }) => acquire(leases, { session, run, owner }, ttl, now())),
    renew: (lease, ttl) => grant(lease.session, ({ leases }) => renew(leases, lease, ttl, now())),
    takeOver: (dead, owner, ttl) =>
      grant(dead.session, ({ leases }) => takeOver(leases, { ...dead, owner }, ttl, now())),
    release: async (lease) => {
      checkOpen()
      await queue.change(lease.session, (draft) => {
        const { row } = draft
        if (row === undefined) return
        const leases = release(row.leases, lease)
        if (leases === row.leases) return
        draft.row = { ...row, leases }
        draft.effects.push(() => checkpoints.writeDue(lease.session)) // off the way of readers: the run is over
      })
    },
  }
}

function newRow(info: PgSession['info'], born: string): PgSession {
  return { born, version: 0, info, leases: { epoch: 0, held: [] }, partials: 0, widest: 0, size: 0, remembered: 0 }
}

function withEvents(session: PgSession, rows: readonly Recorded[], events: readonly EventRow[]): PgSession {
  let { partials, widest, size } = session
  for (const { kind, body } of events) {
    if (kind === 'partial') partials += 1
    size += body.length
    while (body.length * 3 > widest) widest = Math.max(1024, widest * 2) // UTF-8 takes at most three bytes per unit
  }
  return { ...session, info: tally(session.info, rows), partials, widest, size }
}

async function isOwn({ query }: PgConnection, { info, born }: PgSession, stamp: string): Promise<boolean> {
  const [row] = await query('SELECT born, stamp FROM session WHERE id = $1', [info.id])
  return row?.[0] === born && row[1] === stamp
}

function must({ row }: SessionDraft, id: string): PgSession {
  if (row === undefined) throw notFound(id)
  return row
}

function notFound(id: string): MillraceError {
  return new MillraceError('not-found', `no session ${id}`, { session: id })
}

function taken(id: string): MillraceError {
  return new MillraceError('conflict', `session ${id} exists`, { session: id })
}
