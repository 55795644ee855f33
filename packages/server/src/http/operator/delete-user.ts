import { type EventLog, MillraceError, type SessionInfo } from '@millrace/core'
import { asideUser } from '@millrace/core/store'
import type { EvalStore } from '../../eval/eval-store.ts'

/** How often the sessions of a user are listed again: a user who is still at work makes new ones. */
const mostRounds = 1000

/**
 * Deletes everything that is kept of a user: sessions with their logs, shared values and artifacts, evaluation sets and
 * results. Resolves with the number of sessions. `remove` deletes one session.
 */
export async function deleteUser(
  { log, evals }: { readonly log: EventLog; readonly evals: EvalStore },
  user: string,
  remove: (session: SessionInfo) => Promise<void>,
): Promise<number> {
  if (user === '') throw new MillraceError('invalid', 'name the user to delete')
  let count = 0
  for (let left = mostRounds; ; left -= 1) {
    // Also those that the user has deleted and could still bring back.
    const [kept, aside] = await Promise.all([user, asideUser(user)].map((each) => log.list({ user: each, limit: 500 })))
    const sessions = [...(kept?.sessions ?? []), ...(aside?.sessions ?? [])]
    if (sessions.length === 0) break
    if (left === 0)
      throw new MillraceError('busy', `${user} keeps starting sessions; revoke the user's token and delete again`)
    for (const session of sessions) {
      await remove(session).catch(ignoreGone)
      count += 1
    }
  }
  await log.forgetUser(user)
  await evals.forgetUser(user)
  return count
}

/** The user may have deleted the session meanwhile. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof MillraceError && error.code === 'not-found')) throw error
}
