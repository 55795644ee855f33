import { isLive } from '@millrace/core/store'
import { hasActiveRun } from '../refusals.ts'
import { unfindSql } from './find.ts'
import type { Leftovers } from './leftovers.ts'
import { unindexSql } from './search.ts'
import { removeRowsSql } from './shared-rows.ts'
import type { WriteDeps } from './write.ts'

/** A session with more rows, or characters in them, is deleted in several transactions. */
const small = { rows: 500, text: 1024 * 1024 }

/** The session is gone with the first transaction. Many rows are deleted after it, so that other writes need not wait. */
export async function removing(
  { writer, sessions, tails, now, commit, inserts }: WriteDeps,
  leftovers: Leftovers,
): Promise<(id: string) => Promise<void>> {
  const isThere = await writer.prepare('SELECT 1 FROM session WHERE id = ?')
  const forget = await Promise.all(
    ['shared_rows WHERE session', 'lease WHERE session', 'session WHERE id'].map((which) =>
      writer.prepare(`DELETE FROM ${which} = ?`),
    ),
  )
  return async (id) => {
    const left = await commit(async (turn): Promise<readonly number[]> => {
      const { key, leases, parts, size, info } = sessions.must(id)
      if (isLive(leases, now())) throw hasActiveRun(id)
      sessions.forget(id)
      turn.tell(() => tails.end(id))
      inserts.insertHere() // an append of the same transaction may be among what is deleted
      if (parts.length === 0 && info.events <= small.rows && size <= small.text) {
        turn.bulk()
        await writer.exec(
          `${unindexSql(key)} ${unfindSql(key)} ${removeRowsSql(key)} DELETE FROM lease WHERE session = ${key}; DELETE FROM session WHERE id = ${key}`,
        )
        return []
      }
      for (const statement of forget) statement.run([key])
      // Also the rows of sessions that were removed before, if only this one needed them.
      const keys = [key, ...parts.map(({ origin }) => origin).filter((origin) => isThere.first([origin]) === undefined)]
      for (const each of keys) leftovers.note(each)
      return keys
    })
    for (const key of left) await leftovers.clear(key)
  }
}
