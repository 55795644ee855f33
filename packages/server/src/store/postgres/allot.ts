import type { EventLog } from '@millrace/core'
import type { PgConnection } from './connection.ts'

/** Counts of windows that ended longer ago are deleted now and then, in ms. */
const kept = 60 * 60_000

/**
 * Counts that all replicas share, one row for each key, written by one statement. Windows begin at whole multiples of
 * their length on the clock of the database. A statement that fails is not repeated: it may have counted.
 */
export function pgAllot(
  { once }: Pick<PgConnection, 'once'>,
  now: () => number,
  checkOpen: () => void,
): NonNullable<EventLog['allot']> {
  let swept = now()
  return async (key, amount, most, window) => {
    checkOpen()
    const at = now()
    const began = Math.floor(at / window) * window
    const [row] = await once(
      `INSERT INTO allotment AS a (key, began, count, granted)
       VALUES ($1, $2::bigint, least($3::bigint, $4::bigint), least($3::bigint, $4::bigint))
       ON CONFLICT (key) DO UPDATE SET
         granted = CASE WHEN a.began < excluded.began THEN excluded.count ELSE greatest(0, least($3::bigint, $4::bigint - a.count)) END,
         count = CASE WHEN a.began < excluded.began THEN excluded.count ELSE a.count + greatest(0, least($3::bigint, $4::bigint - a.count)) END,
         began = greatest(a.began, excluded.began)
       RETURNING granted, count, began`,
      [key, began, amount, most],
    )
    if (at - swept > kept) {
      swept = at
      void once('DELETE FROM allotment WHERE began < $1', [at - kept]).catch(() => undefined)
    }
    const [granted, count, start] = row ?? []
    return { granted: Number(granted), count: Number(count), left: Math.max(1, Number(start) + window - at) }
  }
}
