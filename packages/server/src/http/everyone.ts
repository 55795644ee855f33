import type { EventLog, SessionInfo, SessionQuery } from '@millrace/core'
import { withOwnId } from '@millrace/core/store'
import type { EvalStore } from '../eval/eval-store.ts'
import type { RunEngine } from '../run/run-engine.ts'
import { deleteUser } from './operator/delete-user.ts'
import { cancelAndRemove } from './session/remove-session.ts'

/** What operators reach of all users. It has no way to what is in a session. */
export interface Everyone {
  readonly users: EventLog['users']
  sessions(query: Pick<SessionQuery, 'user' | 'limit' | 'offset'>): Promise<{
    readonly sessions: readonly SessionFigures[]
    readonly total: number
  }>
  /** Deletes everything that is kept of a user; resolves with the number of sessions. */
  deleteUser(user: string): Promise<number>
}

/** A session without its title, which is what the user wrote first. */
export type SessionFigures = Pick<
  SessionInfo,
  'id' | 'user' | 'agent' | 'status' | 'events' | 'runs' | 'createdAt' | 'updatedAt'
>

interface Parts {
  readonly log: EventLog
  readonly engine: RunEngine
  readonly evals: EvalStore
}

export function everyone({ log, engine, evals }: Parts): Everyone {
  return {
    users: (query) => log.users(query),
    async sessions(query) {
      const { sessions, total } = await log.list(query)
      return { sessions: sessions.map((session) => figuresOf(withOwnId(session))), total }
    },
    deleteUser: (user) =>
      deleteUser({ log, evals }, user, async ({ id }) => {
        await cancelAndRemove({ log, engine }, id)
      }),
  }
}

function figuresOf({ id, user, agent, status, events, runs, createdAt, updatedAt }: SessionInfo): SessionFigures {
  return { id, user, agent, status, events, runs, createdAt, updatedAt }
}
