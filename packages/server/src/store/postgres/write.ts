import { type EventLog, MillraceError, type Recorded } from '@millrace/core'
import {
  checkHistory,
  checkNames,
  checkWriter,
  emptySession,
  eventText,
  isLive,
  pagesOfHistory,
  release,
  tally,
  tallyRestored,
} from '@millrace/core/store'
import { type Grant, leaseGrants } from '../lease-grants.ts'
import { countedRows, rowsFrom } from '../new-rows.ts'
import { hasActiveRun, notFound, pruneLimit, taken } from '../refusals.ts'
import type { Tails } from '../tail.ts'
import type { PgConnection } from './connection.ts'
import { type EventRow, eventRowOf, restoredEvent } from './event-row.ts'
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
  | 'restorePages'
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
): Pick<Writes, 'create' | 'rename' | 'remove' | 'restore' | 'restorePages' | 'fork' | 'prune' | 'remember'> {
  const { connection, queue, tails, now, newId, checkOpen, checkpoints, changed, starts } = deps
  /** One transaction: the other writers of PostgreSQL do not wait for it. */
  const restorePages: EventLog['restorePages'] = async (restored, pages) => {
    checkOpen()
    let row = newRow(emptySession(restored, now()), newId())
    const { id } = row.info
    return queue.alone(id, async () => {
      await connection.transaction(async (query) => {
        if ((await query('SELECT 1 FROM session WHERE id = $1', [id])).length > 0) throw taken(id)
        for await (const { rows, checkpoint } of pages) {
          checkHistory(rows, row.info.lastSeq)
          const events = rows.map(restoredEvent)
          row = { ...row, ...countedRows(row, events), info: tallyRestored(row.info, rows) }
          await insertEvents(query, id, events)
          if (checkpoint !== undefined) await checkpoints.writeRestored(query, id, checkpoint)
        }
        const [made] = await query(pgInsertSession, pgInsertValues(row, newId()))
        if (made === undefined) throw taken(id)
      })
      return row.info
    })
  }
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
          if (isLive(pgSessionOf(found).leases, now())) throw hasActiveRun(id)
          await bequeathRows(query, id, pgPartsIn(String(found.at(-1))))
          for (const table of ['event', 'checkpoint', 'message_text', 'found_text'])
            await query(`DELETE FROM ${table} WHERE session = $1`, [id])
          await query('DELETE FROM session WHERE id = $1', [id])
        })
        checkpoints.forget(id)
        tails.end(id)
        changed(id)
      })
    },
    restorePages,
    restore: async (restored, rows) => {
      checkHistory(rows)
      return restorePages(restored, pagesOfHistory(rows))
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
      const limit = pruneLimit(before)
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
        const rows = rowsFrom(drafts, session.info.lastSeq + 1, at)
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
  const grant: Grant = async (id, decide) => {
    checkOpen()
    return queue.change(id, (draft) => {
      const row = must(draft, id)
      const { leases, lease } = decide(row.leases)
      draft.row = { ...row, leases }
      return lease
    })
  }
  return {
    ...leaseGrants(grant, now),
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
  return { ...session, ...countedRows(session, events), info: tally(session.info, rows) }
}

async function isOwn({ query }: PgConnection, { info, born }: PgSession, stamp: string): Promise<boolean> {
  const [row] = await query('SELECT born, stamp FROM session WHERE id = $1', [info.id])
  return row?.[0] === born && row[1] === stamp
}

function must({ row }: SessionDraft, id: string): PgSession {
  if (row === undefined) throw notFound(id)
  return row
}
