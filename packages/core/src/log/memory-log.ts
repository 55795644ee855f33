import { MillraceError } from '../event/problem.ts'
import type { ArtifactSaved, Draft, Recorded, RunEvent } from '../event/run-event.ts'
import { noFacts, type SessionFacts, sessionFacts } from '../event/session-facts.ts'
import type { JsonObject } from '../json/json.ts'
import { firstIndexWhere } from '../persistent/search.ts'
import type {
  EventLog,
  FindQuery,
  FoundMessage,
  FoundPage,
  Lease,
  NewSession,
  SearchQuery,
  SessionInfo,
  SessionQuery,
  SharedScope,
  UserFigures,
} from './event-log.ts'
import { findCursor, findIn, findLimit } from './find.ts'
import { type FollowSource, followRows } from './follow.ts'
import * as lease from './lease.ts'
import { rowKindOf } from './retention.ts'
import { searchLimit, searchScore, searchWords } from './search.ts'
import * as session from './session-info.ts'
import { idInKey } from './session-key.ts'
import { hasStatus } from './session-status.ts'
import { isAsideUser } from './set-aside.ts'
import * as shared from './shared.ts'

interface Stored {
  info: SessionInfo
  rows: Recorded[]
  leases: lease.SessionLeases
  /** Those of some moment: the next call adds the rows since. */
  facts: SessionFacts
  /** Searches of the session itself find rows up to this seq. */
  remembered: number
  /** Called after each commit, and at the end. */
  readonly followers: Set<() => void>
  ended: boolean
}

interface Memory {
  readonly now: () => number
  readonly sessions: Map<string, Stored>
  /** By agent and user; the user '' has what all users of the agent share. */
  readonly shared: Map<string, Shared>
  closed: boolean
}

interface Shared {
  state: JsonObject
  artifacts: readonly ArtifactSaved[]
}

/** How many rows a follower gets at once. */
const page = 500

/** A log in memory: the reference implementation of the contract, used by tests and by pages that open a file. */
export function memoryLog(now: () => number): EventLog {
  const memory: Memory = { now, sessions: new Map(), shared: new Map(), closed: false }
  return {
    create: async (wanted) => put(memory, wanted, []).info,
    get: async (id) => open(memory).get(id)?.info,
    list: async (query) => list(memory, query),
    users: async (query) => users(memory, query),
    rename: async (id, title) => rename(must(memory, id), title),
    remove: async (id) => remove(memory, id),
    append: async (id, drafts, holder) => append(memory, must(memory, id), drafts, holder),
    read: async (id, { after, limit }) => {
      session.checkCursor(after)
      const { rows } = must(memory, id)
      const from = firstAfter(rows, after)
      return rows.slice(from, limit === undefined ? undefined : from + Math.max(0, limit))
    },
    facts: async (id, at) => facts(must(memory, id), at),
    startOf: async (id, run) =>
      must(memory, id).rows.find((row) => row.run === run && row.event.kind === 'run.started')?.seq,
    follow: (id, { after, signal }) => {
      const source = (): FollowSource<Recorded> => {
        session.checkCursor(after)
        return sourceOf(must(memory, id))
      }
      return followRows(source, after, signal)
    },
    ...leaseMethods(memory),
    sharedState: async (scope) => {
      open(memory)
      return { ...sharedOf(memory, { ...scope, user: '' }).state, ...sharedOf(memory, scope).state }
    },
    sharedArtifacts: async (scope) => {
      open(memory)
      return sharedOf(memory, scope).artifacts
    },
    forgetUser: async (user) => {
      open(memory)
      for (const key of memory.shared.keys()) if (JSON.parse(key)[1] === user && user !== '') memory.shared.delete(key)
    },
    remember: async (id) => {
      const stored = must(memory, id)
      stored.remembered = stored.info.lastSeq
    },
    search: async (query) => search(memory, query),
    find: async (query) => find(memory, query),
    restore: async (wanted, rows) => {
      session.checkHistory(rows)
      return put(memory, wanted, rows.map(copied)).info
    },
    restorePages: async (wanted, pages) => {
      const rows: Recorded[] = []
      for await (const page of pages) {
        session.checkHistory(page.rows, rows.at(-1)?.seq)
        for (const { seq, at, run, body } of page.rows) rows.push({ seq, at, run, event: JSON.parse(body) })
      }
      return put(memory, wanted, rows).info
    },
    prune: async (before) => [...open(memory).values()].reduce((gone, stored) => gone + prune(stored, before), 0),
    close: async () => {
      memory.closed = true
      for (const stored of memory.sessions.values()) end(stored)
    },
  }
}

function leaseMethods(
  memory: Memory,
): Pick<EventLog, 'acquire' | 'renew' | 'release' | 'expired' | 'heldBy' | 'takeOver'> {
  const { now } = memory
  const grant = (stored: Stored, { leases, lease }: lease.Granted): Lease => {
    stored.leases = leases
    return lease
  }
  return {
    acquire: async (id, run, owner, ttl) => {
      const stored = must(memory, id)
      return grant(stored, lease.acquire(stored.leases, { session: id, run, owner }, ttl, now()))
    },
    renew: async (held, ttl) => {
      const stored = must(memory, held.session)
      return grant(stored, lease.renew(stored.leases, held, ttl, now()))
    },
    release: async (held) => {
      const stored = open(memory).get(held.session)
      if (stored !== undefined) stored.leases = lease.release(stored.leases, held)
    },
    expired: async (owner) =>
      [...open(memory).values()].flatMap((stored) => lease.deadRuns(stored.leases, stored.info, now(), owner)),
    heldBy: async (owner) => {
      const all = [...open(memory).values()].filter(({ leases }) => leases.held.length > 0)
      return lease.heldBy(
        owner,
        all.map(({ info, leases }) => ({ user: info.user, held: leases.held })),
      )
    },
    takeOver: async (dead, owner, ttl) => {
      const stored = must(memory, dead.session)
      return grant(stored, lease.takeOver(stored.leases, { ...dead, owner }, ttl, now()))
    },
  }
}

function open({ sessions, closed }: Memory): Memory['sessions'] {
  if (closed) throw new MillraceError('unavailable', 'the log is closed')
  return sessions
}

function must(memory: Memory, id: string): Stored {
  const stored = open(memory).get(id)
  if (stored === undefined) throw new MillraceError('not-found', `no session ${id}`, { session: id })
  return stored
}

function put(memory: Memory, wanted: NewSession, rows: Recorded[]): Stored {
  const info = session.tally(session.emptySession(wanted, memory.now()), rows)
  const { id } = info
  if (open(memory).has(id)) throw new MillraceError('conflict', `session ${id} exists`, { session: id })
  const stored: Stored = {
    info,
    rows,
    leases: lease.noLeases,
    facts: noFacts,
    remembered: 0,
    followers: new Set(),
    ended: false,
  }
  memory.sessions.set(id, stored)
  return stored
}

function list(
  memory: Memory,
  query: SessionQuery,
): { readonly sessions: readonly SessionInfo[]; readonly total: number } {
  const { user, agent, search, aside = false, limit, offset = 0 } = query
  const needle = search?.toLowerCase()
  const found = [...open(memory).values()]
    .map((stored) => stored.info)
    .filter(
      (info) =>
        (user === undefined ? isAsideUser(info.user) === aside : info.user === user) &&
        (agent === undefined || info.agent === agent) &&
        hasStatus(info, query) &&
        (needle === undefined || `${info.title}\n${idInKey(info.id)}`.toLowerCase().includes(needle)),
    )
    .sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
  return { sessions: found.slice(offset, offset + session.pageSize(limit)), total: found.length }
}

function users(memory: Memory, { limit, offset = 0 }: { readonly limit?: number; readonly offset?: number }) {
  const all = new Map<string, UserFigures>()
  for (const { info } of open(memory).values()) {
    if (isAsideUser(info.user)) continue
    const { sessions = 0, events = 0, updatedAt = info.updatedAt } = all.get(info.user) ?? {}
    all.set(info.user, {
      user: info.user,
      sessions: sessions + 1,
      events: events + info.events,
      updatedAt: Math.max(updatedAt, info.updatedAt),
    })
  }
  const found = [...all.values()].sort((a, b) => (a.user < b.user ? -1 : 1))
  return { users: found.slice(offset, offset + session.pageSize(limit)), total: found.length }
}

function rename(stored: Stored, title: string): SessionInfo {
  session.checkNames({ title })
  stored.info = { ...stored.info, title }
  return stored.info
}

function remove(memory: Memory, id: string): void {
  const stored = must(memory, id)
  if (lease.isLive(stored.leases, memory.now())) {
    throw new MillraceError('busy', `session ${id} has an active run; wait for its end or cancel it`, { session: id })
  }
  memory.sessions.delete(id)
  end(stored)
}

function append(
  memory: Memory,
  stored: Stored,
  drafts: readonly Draft[],
  holder: Pick<Lease, 'run' | 'epoch'> | undefined,
): readonly Recorded[] {
  lease.checkWriter(stored.leases, stored.info.id, drafts, holder)
  const at = memory.now()
  const first = stored.info.lastSeq + 1
  const rows = drafts.map((draft, i) => copied({ ...draft, seq: first + i, at: session.draftTime(draft.at, at) }))
  for (const row of rows) {
    stored.rows.push(row)
    share(memory, stored.info, row)
  }
  stored.info = session.tally(stored.info, rows)
  for (const wake of [...stored.followers]) wake()
  return rows
}

function sharedOf({ shared }: Memory, { agent, user }: SharedScope): Shared {
  const key = JSON.stringify([agent, user])
  const found = shared.get(key) ?? { state: {}, artifacts: [] }
  shared.set(key, found)
  return found
}

function share(memory: Memory, scope: SharedScope, { run, event }: Recorded): void {
  if (shared.isSharedArtifact(event)) {
    const own = sharedOf(memory, scope)
    own.artifacts = shared.shareArtifact(own.artifacts, event)
  }
  if (!shared.writesShared(run, event)) return
  const [own, all] = [sharedOf(memory, scope), sharedOf(memory, { ...scope, user: '' })]
  const next = Object.entries(shared.shareState({ ...all.state, ...own.state }, run, event))
  own.state = Object.fromEntries(next.filter(([key]) => shared.sharedUser(key, scope) !== ''))
  all.state = Object.fromEntries(next.filter(([key]) => shared.sharedUser(key, scope) === ''))
}

function search(memory: Memory, { user, agent, text, from, limit }: SearchQuery): readonly FoundMessage[] {
  const words = searchWords(text)
  return [...open(memory).values()]
    .filter(({ info }) => info.user === user && info.agent === agent)
    .flatMap(({ info, rows, remembered }) => {
      const ended = info.id === from ? 0 : (rows.findLast(({ event }) => event.kind === 'run.finished')?.seq ?? 0)
      const known = rows.slice(0, firstAfter(rows, Math.max(ended, remembered)))
      return known.map((row) => ({ session: info.id, row, score: searchScore(words, row) }))
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || b.row.at - a.row.at)
    .slice(0, searchLimit(limit))
    .map(({ session: id, row }) => ({ session: id, row }))
}

function find(memory: Memory, query: FindQuery): FoundPage {
  const sessions = open(memory)
  const limit = findLimit(query.limit)
  const matches = findIn(sessions.values(), query)
  const page = matches.slice(0, limit)
  const last = matches.length > limit ? page.at(-1) : undefined
  const ids = new Set(page.map(({ place }) => place.session))
  return {
    found: page.map(({ found }) => found),
    sessions: [...ids].flatMap((id) => sessions.get(id)?.info ?? []),
    ...(last === undefined ? {} : { next: findCursor(last.place) }),
  }
}

function facts(stored: Stored, at = stored.info.lastSeq): SessionFacts {
  session.checkCursor(at)
  const seq = Math.min(at, stored.info.lastSeq)
  const before = stored.facts.seq <= seq ? stored.facts : noFacts
  const rows = stored.rows.slice(firstAfter(stored.rows, before.seq), firstAfter(stored.rows, seq))
  const after = { ...sessionFacts(rows, before), seq }
  if (seq === stored.info.lastSeq) stored.facts = after
  return after
}

/** A copy through JSON, as a durable store would return it: what the writer does to its object later changes nothing. */
function copied({ seq, at, run, event }: Recorded): Recorded {
  const copy: RunEvent = JSON.parse(session.eventText(event))
  return { seq, at, run, event: copy }
}

function prune(stored: Stored, before: number): number {
  const lastAt = new Map<string, number>()
  const finished = new Set<string>()
  const whole = new Set<string>()
  for (const { run, at, event } of stored.rows) {
    lastAt.set(run, Math.max(at, lastAt.get(run) ?? at))
    const kind = rowKindOf(event)
    if (kind === 'end') finished.add(run)
    if (kind === 'whole' && event.kind === 'agent') whole.add(`${run}\n${event.message}`)
  }
  const rows = stored.rows.filter(({ run, event }) => {
    if (event.kind !== 'agent' || rowKindOf(event) !== 'partial') return true
    const old = finished.has(run) && (lastAt.get(run) ?? before) < before
    return !(old && whole.has(`${run}\n${event.message}`))
  })
  const gone = stored.rows.length - rows.length
  stored.rows = rows
  stored.info = { ...stored.info, events: rows.length }
  return gone
}

function end(stored: Stored): void {
  stored.ended = true
  for (const wake of [...stored.followers]) wake()
}

function sourceOf(stored: Stored): FollowSource<Recorded> {
  return {
    next: (after) => {
      const from = firstAfter(stored.rows, after)
      return stored.rows.slice(from, from + page)
    },
    ended: () => stored.ended,
    subscribe: (wake) => {
      stored.followers.add(wake)
      return () => stored.followers.delete(wake)
    },
  }
}

/** Rows are in seq order, with gaps where partials were pruned. */
function firstAfter(rows: readonly Recorded[], after: number): number {
  return firstIndexWhere(rows.length, (i) => (rows[i]?.seq ?? 0) > after)
}
