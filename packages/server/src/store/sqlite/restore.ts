import type { EventLog, SessionInfo } from '@millrace/core'
import { checkHistory, emptySession, pagesOfHistory, type RestoredPage, tallyRestored } from '@millrace/core/store'
import { ownTurn } from '../../thread/turns.ts'
import { countedRows } from '../new-rows.ts'
import { taken } from '../refusals.ts'
import { rowKindNumbers } from '../row-kind.ts'
import type { Leftovers } from './leftovers.ts'
import { newSessionRow, type SessionRow } from './session-row.ts'
import type { WriteDeps } from './write.ts'

/**
 * Restores sessions page by page. The rows of a page are a transaction of their own, under a number that no session has,
 * so that no reader sees them and other writes wait for one page only. The last transaction makes the session.
 */
export async function restoring(
  deps: WriteDeps,
  leftovers: Leftovers,
): Promise<Pick<EventLog, 'restore' | 'restorePages'>> {
  const { writer, sessions, now, commit, inserts, checkpoints } = deps
  const forget = await writer.prepare('DELETE FROM session WHERE id = ?')

  const refuseTaken = (id: string): void => {
    if (sessions.find(id) !== undefined) throw taken(id)
  }
  /** Takes a number. A number is never given out again, also not that of a row that was deleted at once. */
  const reserved = (info: SessionInfo): Promise<SessionRow> =>
    commit(() => {
      refuseTaken(info.id)
      const row = sessions.insert(info)
      forget.run([row.key])
      leftovers.note(row.key, info.user)
      return row
    })
  const stored = (session: SessionRow, { rows, checkpoint }: RestoredPage): Promise<SessionRow> =>
    commit(async (turn) => {
      for (const { seq, at, run, kind, body } of rows) {
        inserts.add([session.key, seq, at, run, rowKindNumbers[kind], body])
        turn.wrote(body.length)
      }
      turn.bulk()
      if (inserts.isMuch) await inserts.insertInTurns()
      if (checkpoint !== undefined) checkpoints.writeRestored(session.key, checkpoint)
      const counts = countedRows(session, rows)
      leftovers.note(session.key, session.info.user, counts.size)
      return { ...session, ...counts, info: tallyRestored(session.info, rows) }
    })
  const adopted = (session: SessionRow): Promise<SessionInfo> =>
    commit((turn) => {
      refuseTaken(session.info.id)
      sessions.insertAs(session)
      leftovers.adopted(session.key, turn)
      return session.info
    })
  const restorePages: EventLog['restorePages'] = async (wanted, pages) => {
    let session = newSessionRow(emptySession(wanted, now()))
    session = await reserved(session.info)
    try {
      for await (const page of pages) {
        checkHistory(page.rows, session.info.lastSeq)
        if (page.rows.length > 0) session = await stored(session, page)
      }
      return await adopted(session)
    } catch (error) {
      // What cannot be deleted now is deleted at the next start.
      await leftovers.clear(session.key).catch(() => undefined)
      throw error
    }
  }
  return {
    restorePages,
    restore: async (wanted, rows) => {
      checkHistory(rows)
      return restorePages(wanted, pagesOfHistory(rows, ownTurn))
    },
  }
}
