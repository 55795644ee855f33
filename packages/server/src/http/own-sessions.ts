import { type EventLog, MillraceError, type NewSession, type SessionInfo } from '@millrace/core'
import { checkSessionId, idInKey, ownerOfAside, sessionKey, withOwnId } from '@millrace/core/store'
import type { LoadedSession } from '../run/load-session.ts'
import type { RunEngine } from '../run/run-engine.ts'
import type { Streams } from '../stream/streams.ts'
import type { ViewRead, ViewReads } from '../view/view-reads.ts'
import { listAside, restoreAside, setAside } from './session/set-aside.ts'
import type { StorageShares } from './storage-shares.ts'

/** The calls of a log that a request may make. */
export type OwnLog = Pick<
  EventLog,
  | 'create'
  | 'get'
  | 'list'
  | 'rename'
  | 'remove'
  | 'append'
  | 'read'
  | 'readRaw'
  | 'facts'
  | 'startOf'
  | 'sharedState'
  | 'sharedArtifacts'
  | 'find'
  | 'restore'
  | 'restorePages'
  | 'fork'
> & {
  /** Deletes a session so that it can be brought back for a while. Its active run must have been cancelled. */
  removeForNow(id: string): Promise<void>
  /** The deleted sessions that can be brought back, with the times of their deletion as `createdAt`. */
  removed(now: number): Promise<readonly SessionInfo[]>
  bringBack(id: string, now: number): Promise<SessionInfo>
}
export type OwnEngine = Pick<RunEngine, 'start' | 'planChange' | 'runOn' | 'cancel' | 'wait' | 'history' | 'attach'>

/** The sessions that a request can reach: those of its user, under the ids that the user gave them (SPEC 6.8). */
export interface OwnSessions {
  readonly log: OwnLog
  readonly engine: OwnEngine
  readonly streams: Pick<Streams, 'open'>
  readonly views: ViewReads
  /** A name of the session that no session of another user has. */
  readonly keyOf: (id: string) => string
}

export interface AllSessions {
  readonly log: EventLog
  readonly engine: RunEngine
  readonly streams: Streams
  readonly views: ViewReads
  /** Refuses what the user has no room for. */
  readonly room: Pick<StorageShares, 'checkBytes' | 'checkSession' | 'removed'>
}

/**
 * The sessions of one user; without a user, all of them under their own ids. Every call carries the user into the key
 * under which the log keeps a session, so that no route can reach a session of another user by its id.
 */
export function ownSessions(all: AllSessions, user: string | undefined): OwnSessions {
  const keyOf = (id: string): string => (user === undefined ? id : sessionKey(user, id))
  const at = async <T>(id: string, work: (key: string) => Promise<T>): Promise<T> => {
    const key = keyOf(id)
    try {
      return await work(key)
    } catch (error) {
      throw key === id ? error : withIdOf(error, key, id)
    }
  }
  return {
    keyOf,
    log: ownLog(all, user, at, keyOf),
    engine: ownEngine(all, user, keyOf, at),
    streams: { open: (id, options, sink) => at(id, (key) => all.streams.open(key, options, sink)) },
    views: {
      view: (name, read) => all.views.view(name, keyedRead(read, keyOf)),
      state: (read) => all.views.state(keyedRead(read, keyOf)),
      folded: (made, read) => all.views.folded(made, keyedRead(read, keyOf)),
    },
  }
}

type At = <T>(id: string, work: (key: string) => Promise<T>) => Promise<T>

function ownLog({ log, room }: AllSessions, user: string | undefined, at: At, keyOf: (id: string) => string): OwnLog {
  const whose = <T extends object>(query: T): T => (user === undefined ? query : { ...query, user })
  const { readRaw, fork } = log
  /** Also without users: the session might be opened with users later. */
  const made = async (session: NewSession, make: (keyed: NewSession) => Promise<SessionInfo>): Promise<SessionInfo> => {
    checkSessionId(session.id)
    await room.checkSession(user)
    return at(session.id, async (id) => withOwnId(await make(whose({ ...session, id }))))
  }
  return {
    create: (session) => made(session, (keyed) => log.create(keyed)),
    restore: (session, rows) => made(session, (keyed) => log.restore(keyed, rows)),
    restorePages: (session, pages) => made(session, (keyed) => log.restorePages(keyed, pages)),
    ...(fork === undefined
      ? {}
      : {
          fork: (source, seq, session, ends) =>
            at(source, (key) => made(session, (keyed) => fork.call(log, key, seq, keyed, ends))),
        }),
    get: (id) =>
      at(id, async (key) => {
        const info = await log.get(key)
        return info === undefined || (user !== undefined && info.user !== user) ? undefined : seen(info, user)
      }),
    list: async (query) => {
      const { sessions, total } = await log.list(whose(query))
      return { sessions: sessions.map((info) => seen(info, user)), total }
    },
    rename: (id, title) => at(id, async (key) => seen(await log.rename(key, title), user)),
    remove: (id) =>
      at(id, async (key) => {
        await log.remove(key)
        room.removed(user)
      }),
    removeForNow: (id) =>
      at(id, async (key) => {
        const info = await log.get(key)
        if (info !== undefined) await setAside(log, info)
        await log.remove(key)
        room.removed(user)
      }),
    removed: async (now) =>
      (await listAside(log, user, now)).map((info) => withOwnId({ ...info, user: ownerOfAside(info.user) })),
    bringBack: async (id, now) => {
      await room.checkSession(user)
      return seen(await restoreAside(log, { user, id, now }, keyOf), user)
    },
    append: async (id, drafts) => {
      await room.checkBytes(user)
      return at(id, (key) => log.append(key, drafts))
    },
    read: (id, options) => at(id, (key) => log.read(key, options)),
    ...(readRaw === undefined ? {} : { readRaw: (id, options) => at(id, (key) => readRaw.call(log, key, options)) }),
    facts: (id, seq) => at(id, (key) => log.facts(key, seq)),
    startOf: (id, run) => at(id, (key) => log.startOf(key, run)),
    sharedState: (scope) => log.sharedState(whose({ ...scope })),
    sharedArtifacts: (scope) => log.sharedArtifacts(whose({ ...scope })),
    find: async (query) => {
      const page = await log.find(whose(query))
      if (user === undefined) return page
      return {
        ...page,
        found: page.found.map((row) => ({ ...row, session: idInKey(row.session) })),
        sessions: page.sessions.map(withOwnId),
      }
    },
  }
}

/** Without users the id is the key, also that of a session from a time with users. */
function seen(info: SessionInfo, user: string | undefined): SessionInfo {
  return user === undefined ? info : withOwnId(info)
}

function ownEngine(
  { engine, room }: AllSessions,
  user: string | undefined,
  keyOf: (id: string) => string,
  at: At,
): OwnEngine {
  return {
    start: async (request) => {
      await room.checkBytes(user)
      return at(request.session, (session) =>
        engine.start({
          ...request,
          session,
          ...(user === undefined ? {} : { user }),
          ...(request.loaded === undefined ? {} : { loaded: keyed(request.loaded, session) }),
        }),
      )
    },
    planChange: (request) => at(request.session, (session) => engine.planChange({ ...request, session })),
    runOn: async (request) => {
      await room.checkBytes(user)
      return at(request.session, (session) =>
        engine.runOn({ ...request, session, ...(user === undefined ? {} : { user }) }),
      )
    },
    cancel: (id, run) => at(id, (session) => engine.cancel(session, run)),
    wait: (id, run) => at(id, (session) => engine.wait(session, run)),
    history: (info) => at(info.id, (id) => engine.history({ ...info, id })),
    attach: (id) => engine.attach(keyOf(id)),
  }
}

function keyedRead(read: ViewRead, keyOf: (id: string) => string): ViewRead {
  return { ...read, session: { ...read.session, id: keyOf(read.session.id) } }
}

function keyed(loaded: LoadedSession, id: string): LoadedSession {
  return { ...loaded, info: { ...loaded.info, id } }
}

/** The error in the words of the user, who knows the session by its id. */
function withIdOf(error: unknown, key: string, id: string): unknown {
  if (!(error instanceof MillraceError)) return error
  const { code, message, facts, cause } = error
  return new MillraceError(
    code,
    message.replaceAll(key, id),
    facts.session === key ? { ...facts, session: id } : facts,
    cause,
  )
}
