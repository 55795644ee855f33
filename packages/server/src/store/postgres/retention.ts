import { rowKindNumbers } from '../row-kind.ts'
import type { PgConnection } from './connection.ts'

/** Rows that one transaction deletes at most, so that appends do not wait long. */
const batch = 5000

/** Deletes the partials that the log has as a whole (SPEC 2.9), and returns how many rows that were. */
export async function pruneSession({ transaction }: PgConnection, id: string, before: number): Promise<number> {
  let gone = 0
  for (;;) {
    const deleted = await transaction(async (query) => {
      const [session] = await query('SELECT 1 FROM session WHERE id = $1 FOR UPDATE', [id])
      if (session === undefined) return 0
      const rows = await query(
        `DELETE FROM event WHERE session = $1 AND seq IN (
           SELECT e.seq FROM event e
           WHERE e.session = $1 AND e.kind = ${rowKindNumbers.partial}
             AND e.seq > coalesce((SELECT max(upto) FROM shared_rows WHERE origin = $1), 0)
             AND e.run IN (SELECT run FROM event WHERE session = $1 GROUP BY run
               HAVING bool_or(kind = ${rowKindNumbers.end}) AND max(at) < $2)
             AND EXISTS (SELECT 1 FROM event w WHERE w.session = $1 AND w.run = e.run
               AND w.message = e.message AND w.kind = ${rowKindNumbers.whole})
           LIMIT ${batch}) RETURNING length(body)`,
        [id, before],
      )
      if (rows.length > 0)
        await query(
          `UPDATE session SET version = version + 1, events = events - $2, partials = partials - $2, size = size - $3
           WHERE id = $1`,
          [id, rows.length, rows.reduce((sum, [length]) => sum + Number(length), 0)],
        )
      return rows.length
    })
    gone += deleted
    if (deleted < batch) return gone
  }
}
