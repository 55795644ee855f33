import { createHash } from 'node:crypto'
import type { RawRecorded } from '@millrace/core'
import type { StoredSession, WholeStore } from '@millrace/server'
import { movedShared, sharedConflict } from './shared-values.ts'

export interface MoveOptions {
  /** Whether the target may have sessions that the source has not. */
  readonly merge: boolean
  readonly onProgress: (phase: 'moved' | 'checked', events: number, of: number) => void
}

export interface Moved {
  /** All sessions of the source, and those of them that the target had before, from a move that was cut. */
  readonly sessions: number
  readonly already: number
  readonly events: number
  readonly values: number
  readonly artifacts: number
  /** Over all contents of the source, in the order in which they are moved; read from both sides, and the same. */
  readonly sha256: string
  /** Whether the target has the secret of the source. Without it, agents do not go on from checkpoints that were moved. */
  readonly secret: boolean
}

/** Why a move was refused or failed, as a sentence for people. */
export class MoveError extends Error {}

/**
 * Copies everything that one store holds into another one. A session is stored as a whole or not at all, so a move that
 * was cut goes on with the sessions that are missing; the source stays as it is. At the end, both sides are read again
 * and compared.
 */
export async function moveStore(from: WholeStore, to: WholeStore, options: MoveOptions): Promise<Moved> {
  const inUse = await from.inUse()
  if (inUse !== undefined) throw new MoveError(`cannot move ${from.place}: ${inUse}`)
  const { events: total } = await from.counts()
  const { already, others } = await survey(from, to, options.merge)
  let events = 0
  for await (const page of pagesOf(from)) {
    const there = await to.find(page.map(({ info }) => info.id))
    for (const session of page) {
      if (!there.has(session.info.id) && !(await to.put(session, rowsOf(from, session))))
        throw new MoveError(`session ${session.info.id} was made in the target during the move; run the command again`)
      events += session.info.events
      options.onProgress('moved', events, total)
    }
  }
  const shared = await movedShared(from, to)
  // Another secret would make the checkpoints of the target's own sessions worthless.
  if (!others) await to.keepSecret(await from.secret())
  const secret = Buffer.from(await from.secret()).equals(await to.secret())
  const { sessions, sha256 } = await compare(from, to, (done) => options.onProgress('checked', done, total))
  return { sessions, already, events, ...shared, sha256, secret }
}

/** Finds out what the target has, before anything is written. */
async function survey(
  from: WholeStore,
  to: WholeStore,
  merge: boolean,
): Promise<{ readonly already: number; readonly others: boolean }> {
  const has = await to.counts()
  let already = 0
  if (has.sessions > 0)
    for await (const page of pagesOf(from)) {
      const there = await to.find(page.map(({ info }) => info.id))
      for (const session of page) {
        const other = there.get(session.info.id)
        if (other === undefined) continue
        if (printed(other) !== printed(session))
          throw new MoveError(
            `session ${session.info.id} is in both stores and differs; a move overwrites nothing: remove it from one of them`,
          )
        already += 1
      }
    }
  const shared = await sharedConflict(from, to)
  if (shared.conflict !== undefined)
    throw new MoveError(`${shared.conflict} is in both stores and differs; a move overwrites nothing`)
  const others = has.sessions > already || has.values > shared.values || has.artifacts > shared.artifacts
  if (others && !merge)
    throw new MoveError(
      `${to.place} has ${has.sessions - already} other sessions; choose an empty target, or add --merge to keep both`,
    )
  return { already, others }
}

async function* pagesOf(store: WholeStore): AsyncGenerator<readonly StoredSession[]> {
  for (let page = await store.sessions(); page.length > 0; page = await store.sessions(page.at(-1))) yield page
}

async function* rowsOf(store: WholeStore, session: StoredSession): AsyncGenerator<readonly RawRecorded[]> {
  let page = await store.rows(session, 0)
  while (page.length > 0) {
    yield page
    page = await store.rows(session, page.at(-1)?.seq ?? 0)
  }
}

/** Reads everything of both sides again. */
async function compare(
  from: WholeStore,
  to: WholeStore,
  onProgress: (events: number) => void,
): Promise<Pick<Moved, 'sessions' | 'sha256'>> {
  const all = createHash('sha256')
  let sessions = 0
  let events = 0
  for await (const page of pagesOf(from)) {
    const there = await to.find(page.map(({ info }) => info.id))
    for (const session of page) {
      const { id } = session.info
      const other = there.get(id)
      const [ours, theirs] = [await hashOf(from, session), other && (await hashOf(to, other))]
      if (ours !== theirs)
        throw new MoveError(
          `session ${id} is not the same in both stores; was one of them used meanwhile? Nothing was removed`,
        )
      all.update(ours)
      sessions += 1
      events += session.info.events
      onProgress(events)
    }
  }
  for await (const { value, ...key } of from.values()) {
    if ((await to.findValue(key)) !== value)
      throw new MoveError(`the shared value ${key.name} is not the same in both stores`)
    all.update(JSON.stringify([key.agent, key.user, key.name, value]))
  }
  for await (const { body, ...key } of from.artifacts()) {
    if ((await to.findArtifact(key)) !== body)
      throw new MoveError(`the file ${key.name} is not the same in both stores`)
    all.update(JSON.stringify([key.agent, key.user, key.name, key.version, body]))
  }
  return { sessions, sha256: all.digest('hex') }
}

async function hashOf(store: WholeStore, session: StoredSession): Promise<string> {
  const hash = createHash('sha256').update(printed(session))
  for await (const page of rowsOf(store, session))
    for (const { seq, at, run, kind, body } of page) hash.update(`${JSON.stringify([seq, at, run, kind])}${body}\n`)
  return hash.digest('hex')
}

function printed({ info, epoch, leases, remembered, parts }: StoredSession): string {
  const { id, user, agent, title, status, lastRun, lastSeq, events, runs, createdAt, updatedAt, forkOf } = info
  return JSON.stringify([
    [id, user, agent, title, status, lastRun ?? null, lastSeq, events, runs, createdAt, updatedAt],
    [forkOf?.session ?? null, forkOf?.seq ?? null, epoch, remembered],
    leases.map(({ run, owner, epoch: at, until }) => [run, owner, at, until]).sort(),
    parts.map(({ origin, upTo }) => [origin, upTo]),
  ])
}
