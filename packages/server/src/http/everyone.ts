import {
  defined,
  type EventLog,
  exportSession,
  MillraceError,
  type SessionInfo,
  type SessionQuery,
} from '@millrace/core'
import { sessionKey, withOwnId } from '@millrace/core/store'
import type { EvalStore } from '../eval/eval-store.ts'
import type { RunEngine } from '../run/run-engine.ts'
import { deleteUser } from './operator/delete-user.ts'
import { cancelAndRemove } from './session/remove-session.ts'

/** What operators reach of all users. Only `exported` has what is in a session. */
export interface Everyone {
  readonly users: EventLog['users']
  sessions(query: Pick<SessionQuery, 'user' | 'limit' | 'offset'>): Promise<{
    readonly sessions: readonly SessionFigures[]
    readonly total: number
  }>
  /** A session of a user as JSONL, for operators that may read contents. */
  exported(user: string, id: string): Promise<AsyncGenerator<string, void>>
  /** Deletes everything that is kept of a user; resolves with the number of sessions. */
  deleteUser(user: string): Promise<number>
}

/** A session without its title, which is what the user wrote first. */
export type SessionFigures = Pick<
  SessionInfo,
  'id' | 'user' | 'agent' | 'status' | 'cutOff' | 'events' | 'runs' | 'createdAt' | 'updatedAt'
>

interface Parts {
  readonly log: EventLog
  readonly engine: RunEngine
  readonly evals: EvalStore
}

export function everyone({ log, engine, evals }: Parts, hasUsers: boolean): Everyone {
  return {
    users: (query) => log.users(query),
    async sessions(query) {
      const { sessions, total } = await log.list(query)
      return { sessions: sessions.map((session) => figuresOf(withOwnId(session))), total }
    },
    async exported(user, id) {
      const key = hasUsers ? sessionKey(user, id) : id
      if ((await log.get(key))?.user !== user)
        throw new MillraceError('not-found', `${user} has no session ${id}`, { session: id })
      return exportSession(log, key)
    },
    deleteUser: (user) =>
      deleteUser({ log, evals }, user, async ({ id }) => {
        await cancelAndRemove({ log, engine }, id)
      }),
  }
}

function figuresOf({
  id,
  user,
  agent,
  status,
  cutOff,
  events,
  runs,
  createdAt,
  updatedAt,
}: SessionInfo): SessionFigures {
  return { id, user, agent, status, ...defined({ cutOff }), events, runs, createdAt, updatedAt }
}
