import { MillraceError } from '../event/problem.ts'
import type { Draft, Recorded } from '../event/run-event.ts'
import type { EventLog, Lease, NewSession, SessionInfo, Signal } from './event-log.ts'

interface Stored {
  info: SessionInfo
  rows: Recorded[]
  lease: Lease | undefined
  epoch: number
  /** Called after each commit, and on removal. */
  readonly followers: Set<() => void>
  removed: boolean
}

/** A log in memory: the reference implementation of the contract, and the one for tests and files on a page. */
export function memoryLog(now: () => number): EventLog {
  const sessions = new Map<string, Stored>()

  const must = (id: string): Stored => {
    const stored = sessions.get(id)
    if (stored === undefined) throw new MillraceError('not-found', `no session ${id}`, { session: id })
    return stored
  }
  const live = (stored: Stored): boolean => stored.lease !== undefined && stored.lease.until > now()
  const put = ({ id, user, agent, title = '', forkOf }: NewSession): Stored => {
    if (sessions.has(id)) throw new MillraceError('conflict', `session ${id} exists`, { session: id })
    const at = now()
    const stored: Stored = {
      info: {
        id,
        user,
        agent,
        title,
        status: 'idle',
        lastSeq: 0,
        events: 0,
        runs: 0,
        createdAt: at,
        updatedAt: at,
        ...(forkOf === undefined ? {} : { forkOf }),
      },
      rows: [],
      lease: undefined,
      epoch: 0,
      followers: new Set(),
      removed: false,
    }
    sessions.set(id, stored)
    return stored
  }
  const take = (stored: Stored, rows: readonly Recorded[]): void => {
    const last = rows.at(-1)
    if (last === undefined) return
    for (const row of rows) stored.rows.push(row)
    let { status, runs } = stored.info
    for (const { event } of rows) {
      if (event.kind === 'run.started') {
        status = 'running'
        runs += 1
      } else if (event.kind === 'run.finished') status = event.outcome
    }
    stored.info = {
      ...stored.info,
      status,
      runs,
      lastSeq: last.seq,
      events: stored.rows.length,
      updatedAt: Math.max(stored.info.updatedAt, last.at),
    }
    for (const wake of [...stored.followers]) wake()
  }
  const grant = (stored: Stored, run: string, owner: string, ttl: number): Lease => {
    stored.epoch += 1
    const lease = { session: stored.info.id, run, owner, epoch: stored.epoch, until: now() + ttl }
    stored.lease = lease
    return lease
  }
  const holds = (stored: Stored, run: string, epoch: number): boolean =>
    stored.lease?.run === run && stored.lease.epoch === epoch

  return {
    async create(session) {
      return put(session).info
    },
    async get(id) {
      return sessions.get(id)?.info
    },
    async list({ user, agent, status, search, limit = 100, offset = 0 }) {
      const needle = search?.toLowerCase()
      const found = [...sessions.values()]
        .map((stored) => stored.info)
        .filter(
          (info) =>
            (user === undefined || info.user === user) &&
            (agent === undefined || info.agent === agent) &&
            (status === undefined || info.status === status) &&
            (needle === undefined || `${info.title}\n${info.id}`.toLowerCase().includes(needle)),
        )
        .sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
      return { sessions: found.slice(offset, offset + limit), total: found.length }
    },
    async rename(id, title) {
      const stored = must(id)
      stored.info = { ...stored.info, title }
      return stored.info
    },
    async remove(id) {
      const stored = must(id)
      if (live(stored)) throw new MillraceError('busy', `session ${id} has an active run`, { session: id })
      sessions.delete(id)
      stored.removed = true
      for (const wake of [...stored.followers]) wake()
    },
    async append(id, drafts, lease) {
      const stored = must(id)
      const fenced = lease !== undefined
      if (fenced && !holds(stored, lease.run, lease.epoch)) {
        throw new MillraceError('lease-lost', `run ${lease.run} was taken over`, { session: id, ...lease })
      }
      const foreignRun = drafts.find((draft) => draft.run !== (fenced ? lease.run : ''))
      if (foreignRun !== undefined) {
        throw new MillraceError('lease-lost', `no lease for run ${foreignRun.run}`, {
          session: id,
          run: foreignRun.run,
        })
      }
      const at = now()
      const rows = drafts.map((draft: Draft, i) => ({
        seq: stored.info.lastSeq + 1 + i,
        at: draft.at ?? at,
        run: draft.run,
        event: draft.event,
      }))
      take(stored, rows)
      return rows
    },
    async read(id, { after, limit }) {
      const { rows } = must(id)
      const from = firstAfter(rows, after)
      return rows.slice(from, limit === undefined ? undefined : from + limit)
    },
    follow: (id, options) => follow(must(id), options.after, options.signal),
    async acquire(id, run, owner, ttl) {
      const stored = must(id)
      if (live(stored)) throw new MillraceError('busy', `session ${id} has an active run`, { session: id })
      return grant(stored, run, owner, ttl)
    },
    async renew(lease, ttl) {
      const stored = must(lease.session)
      if (!holds(stored, lease.run, lease.epoch)) {
        throw new MillraceError('lease-lost', `run ${lease.run} was taken over`, { ...lease })
      }
      stored.lease = { ...lease, until: now() + ttl }
      return stored.lease
    },
    async release(lease) {
      const stored = sessions.get(lease.session)
      if (stored !== undefined && holds(stored, lease.run, lease.epoch)) stored.lease = undefined
    },
    async expired(owner) {
      const at = now()
      return [...sessions.values()].flatMap((stored) => {
        const { lease } = stored
        if (lease !== undefined) return lease.until <= at || lease.owner === owner ? [lease] : []
        const run = stored.info.status === 'running' ? openRun(stored.rows) : undefined
        return run === undefined ? [] : [{ session: stored.info.id, run, owner: '', epoch: stored.epoch, until: 0 }]
      })
    },
    async takeOver({ session, run, epoch }, owner, ttl) {
      const stored = must(session)
      if (epoch !== undefined && epoch !== stored.epoch) {
        throw new MillraceError('lease-lost', `run ${run} was taken over`, { session, run, epoch })
      }
      return grant(stored, run, owner, ttl)
    },
    async restore(session, rows) {
      let last = 0
      for (const { seq } of rows) {
        if (!(seq > last)) throw new MillraceError('invalid', `seq ${seq} after ${last}`, { seq })
        last = seq
      }
      const stored = put(session)
      take(stored, rows)
      return stored.info
    },
    async prune(before) {
      let gone = 0
      for (const stored of sessions.values()) {
        if (stored.info.updatedAt >= before || live(stored)) continue
        const kept = stored.rows.filter(({ event }) => !(event.kind === 'agent' && event.event.partial === true))
        gone += stored.rows.length - kept.length
        stored.rows = kept
        stored.info = { ...stored.info, events: kept.length }
      }
      return gone
    },
    async close() {
      for (const stored of sessions.values()) {
        stored.removed = true
        for (const wake of [...stored.followers]) wake()
      }
    },
  }
}

function openRun(rows: readonly Recorded[]): string | undefined {
  return rows.findLast(({ event }) => event.kind === 'run.started')?.run
}

/** Rows are in seq order, with gaps where partials were pruned: binary search. */
function firstAfter(rows: readonly Recorded[], after: number): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rows[middle]?.seq ?? 0) <= after) low = middle + 1
    else high = middle
  }
  return low
}

async function* follow(stored: Stored, after: number, signal: Signal): AsyncGenerator<readonly Recorded[], void> {
  let cursor = after
  let wake = (): void => {}
  const notify = (): void => wake()
  stored.followers.add(notify)
  signal.addEventListener('abort', notify)
  try {
    while (!signal.aborted) {
      const rows = stored.rows.slice(firstAfter(stored.rows, cursor))
      if (rows.length > 0) {
        cursor = rows.at(-1)?.seq ?? cursor
        yield rows
        continue
      }
      if (stored.removed) return
      await new Promise<void>((resume) => {
        wake = resume
      })
    }
  } finally {
    stored.followers.delete(notify)
    signal.removeEventListener('abort', notify)
  }
}
