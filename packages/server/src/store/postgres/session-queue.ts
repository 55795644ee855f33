import { MillraceError } from '@millrace/core'
import { isCutOff, type PgConnection, type Prepared, prepared, type Query, type Value } from './connection.ts'
import { type EventRow, eventColumns, eventValues, sameEvents } from './event-row.ts'
import { type PgSession, pgRowColumns, pgSessionOf, pgUpdateSession, pgUpdateValues } from './session-row.ts'

/** What the jobs of one group make of a session. A job changes it only after it has refused all that it refuses. */
export interface SessionDraft {
  /** The session with the jobs before this one; undefined when there is none of that id. */
  row: PgSession | undefined
  readonly events: EventRow[]
  /** Run once the group is durable, in order. */
  readonly effects: (() => void)[]
  /** More statements for the same transaction: rare, so a group with one costs more round trips. */
  readonly more: ((query: Query) => Promise<void>)[]
}

export interface SessionQueue {
  /** Runs the job with others of its session in one statement, and resolves when that is durable. */
  change<T>(id: string, job: (draft: SessionDraft) => T): Promise<T>
  /** Runs alone, after the jobs of the session before it. It must leave the row's version higher if it changes the row. */
  alone<T>(id: string, work: () => Promise<T>): Promise<T>
  settled(): Promise<void>
}

export interface QueueDeps {
  readonly connection: PgConnection
  readonly newId: () => string
  /** Called after each durable change. */
  readonly changed: (id: string) => void
}

interface Pending {
  attempt(draft: SessionDraft): () => void
  reject(error: unknown): void
}
type Entry = { readonly job: Pending } | { readonly alone: () => Promise<void> }

/** Sessions whose row stays in memory between two writes. */
const maxKept = 1000
/** More text than this is not gathered into one statement. */
const maxText = 4 * 2 ** 20

const loadRow = prepared(`SELECT ${pgRowColumns} FROM session s WHERE s.id = $1`)
const changeRow = prepared(pgUpdateSession)
const changeRowAndStore = prepared(`WITH changed AS (${pgUpdateSession}), stored AS (
    INSERT INTO event (${eventColumns}) SELECT $1, e.* FROM changed,
      unnest($22::bigint[], $23::float8[], $24::text[], $25::smallint[], $26::text[], $27::text[]) e)
  SELECT version FROM changed`)

/**
 * The writes of each session, one group after the other; those of other sessions go on beside them, over other
 * connections. A group is one round trip: the row that the jobs made, and their events, are written in one statement, if
 * the row still has the version that they were made from. When it has not, another replica wrote, and the jobs run again
 * on the row as it is now. So a job decides in plain code, and a writer whose lease was taken over is refused (SPEC 2.7)
 * by the same statement that would have stored its events.
 */
export function sessionQueue({ connection, newId, changed }: QueueDeps): SessionQueue {
  const waiting = new Map<string, Entry[]>()
  const running = new Map<string, Promise<void>>()
  const kept = new Map<string, PgSession>()

  const load = async (id: string): Promise<PgSession | undefined> => {
    const [row] = await connection.query(loadRow, [id])
    return row === undefined ? undefined : pgSessionOf(row)
  }
  const keep = (id: string, row: PgSession | undefined): void => {
    kept.delete(id)
    if (row !== undefined) kept.set(id, row)
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) break
      kept.delete(oldest)
    }
  }

  const commit = async (id: string, group: readonly Pending[]): Promise<void> => {
    let known = kept.get(id)
    let isFresh = false
    for (;;) {
      if (known === undefined) {
        known = await load(id)
        isFresh = true
      }
      const { draft, done, refused } = tryAll(known, group)
      // Another replica may have changed the row since: nothing is refused because of an old one.
      if (refused.length > 0 && !isFresh) {
        known = undefined
        continue
      }
      const { row } = draft
      const written =
        known === undefined || row === undefined || row === known
          ? known
          : await write(connection, known, draft, newId())
      if (written === undefined && known !== undefined) {
        known = undefined
        kept.delete(id)
        continue
      }
      keep(id, written)
      for (const effect of draft.effects) effect()
      if (written !== known) changed(id)
      for (const { job, error } of refused) job.reject(error)
      for (const resolve of done) resolve()
      return
    }
  }
  const drain = async (id: string): Promise<void> => {
    await undefined // jobs of the same tick join the first group
    for (let entries = waiting.get(id); entries !== undefined && entries.length > 0; entries = waiting.get(id)) {
      const [first] = entries
      if (first !== undefined && 'alone' in first) {
        entries.shift()
        kept.delete(id)
        await first.alone()
        continue
      }
      const group: Pending[] = []
      for (let entry = entries[0]; entry !== undefined && 'job' in entry; entry = entries[0]) {
        group.push(entry.job)
        entries.shift()
      }
      try {
        await commit(id, group)
      } catch (error) {
        kept.delete(id)
        for (const { reject } of group) reject(error)
      }
    }
    waiting.delete(id)
    running.delete(id)
  }
  const add = (id: string, entry: Entry): void => {
    const entries = waiting.get(id)
    if (entries === undefined) waiting.set(id, [entry])
    else entries.push(entry)
    if (!running.has(id)) running.set(id, drain(id))
  }
  return {
    change: (id, job) =>
      new Promise((resolve, reject) => {
        const attempt: Pending['attempt'] = (draft) => {
          const value = job(draft)
          return () => resolve(value)
        }
        add(id, { job: { attempt, reject } })
      }),
    alone: (id, work) =>
      new Promise((resolve, reject) => {
        add(id, { alone: () => work().then(resolve, reject) })
      }),
    settled: async () => {
      while (running.size > 0) await Promise.all(running.values())
    },
  }
}

interface Tried {
  readonly draft: SessionDraft
  readonly done: readonly (() => void)[]
  readonly refused: readonly { readonly job: Pending; readonly error: unknown }[]
}

function tryAll(row: PgSession | undefined, group: readonly Pending[]): Tried {
  const draft: SessionDraft = { row, events: [], effects: [], more: [] }
  const done: (() => void)[] = []
  const refused: { job: Pending; error: unknown }[] = []
  for (const job of group) {
    try {
      done.push(job.attempt(draft))
    } catch (error) {
      refused.push({ job, error })
    }
  }
  return { draft, done, refused }
}

/** Writes the draft; undefined when the row was no longer the one that it was made from. */
async function write(
  connection: PgConnection,
  from: PgSession,
  draft: SessionDraft,
  stamp: string,
): Promise<PgSession | undefined> {
  const { row: to, events, more } = draft
  if (to === undefined) throw new MillraceError('internal', 'a draft lost its session')
  const text = events.reduce((sum, { body }) => sum + body.length, 0)
  const written = { ...to, version: from.version + 1 }
  if (more.length > 0 || text > maxText) {
    return connection.transaction(async (query) => {
      const [done] = await query(pgUpdateSession, pgUpdateValues(from, to, stamp))
      if (done === undefined) return undefined
      await insertEvents(query, from.info.id, events)
      for (const statement of more) await statement(query)
      return written
    })
  }
  const [statement, values] = oneStatement(from, to, events, stamp)
  for (;;) {
    try {
      const [done] = await connection.once(statement, values)
      return done === undefined ? undefined : written
    } catch (error) {
      // The statement may have run. The stamp says so, or the events themselves, if another replica wrote after it.
      if (!isCutOff(error)) throw error
      const outcome = await whatHappened(connection, from, events, stamp)
      if (outcome === 'written') return written
      if (outcome === 'changed') return undefined
    }
  }
}

function oneStatement(
  from: PgSession,
  to: PgSession,
  events: readonly EventRow[],
  stamp: string,
): readonly [Prepared, readonly Value[]] {
  const values = pgUpdateValues(from, to, stamp)
  return events.length === 0 ? [changeRow, values] : [changeRowAndStore, [...values, ...eventValues(events)]]
}

async function whatHappened(
  { query }: PgConnection,
  from: PgSession,
  events: readonly EventRow[],
  stamp: string,
): Promise<'written' | 'changed' | 'unchanged'> {
  const [row] = await query('SELECT version, stamp, born FROM session WHERE id = $1', [from.info.id])
  if (row === undefined || row[2] !== from.born) return 'changed'
  const outcome = writeOutcome(from.version, stamp, { version: Number(row[0]), stamp: String(row[1]) })
  if (outcome !== 'unknown') return outcome
  return (await sameEvents(query, from.info.id, events)) ? 'written' : 'changed'
}

/** What became of a write that got no answer: made from one version of the row, with this stamp. */
export function writeOutcome(
  from: number,
  stamp: string,
  row: { readonly version: number; readonly stamp: string },
): 'written' | 'unchanged' | 'unknown' {
  if (row.stamp === stamp) return 'written'
  return row.version === from ? 'unchanged' : 'unknown'
}

/** Inserts many events, a bounded number of bytes at a time. */
export async function insertEvents(query: Query, session: string, events: readonly EventRow[]): Promise<void> {
  for (let at = 0; at < events.length; ) {
    const page: EventRow[] = []
    for (let text = 0; at < events.length && page.length < 2000 && text < maxText; at++) {
      const event = events[at]
      if (event === undefined) break
      text += event.body.length
      page.push(event)
    }
    await query(
      `INSERT INTO event (${eventColumns}) SELECT $1, e.* FROM
         unnest($2::bigint[], $3::float8[], $4::text[], $5::smallint[], $6::text[], $7::text[]) e`,
      [session, ...eventValues(page)],
    )
  }
}
