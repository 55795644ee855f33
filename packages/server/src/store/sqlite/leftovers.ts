import type { ReadConnection, WriteConnection } from './connection.ts'
import type { EventInserts } from './event-inserts.ts'
import { unfindSql } from './find.ts'
import type { GroupCommit, Turn } from './group-commit.ts'
import { sharedUpTo } from './shared-rows.ts'

/**
 * Numbers whose rows belong to no session: those of a session that is being restored, and of one that is being removed.
 * They are noted, so that the rows can be written and deleted in small transactions: what a crash leaves is deleted at
 * the next start.
 */
export interface Leftovers {
  /** Inside a transaction: these rows have no session. The user is charged with `size`. */
  note(key: number, user?: string, size?: number): void
  /** Inside a transaction: the session of these rows is there. */
  adopted(key: number, turn: Pick<Turn, 'onCommit'>): void
  /** Deletes the rows that no fork needs, a few in each transaction. */
  clear(key: number): Promise<void>
  /** Deletes what an earlier process left. */
  clearAll(): Promise<void>
}

export interface LeftoversDeps {
  readonly writer: WriteConnection
  readonly commit: GroupCommit['run']
  readonly inserts: EventInserts
  readonly keys: Set<number>
}

/** The numbers that may be in the table, so that it is queried only when there are any: most of the time it is empty. */
export function leftoverKeys(reader: ReadConnection): Set<number> {
  return new Set(
    reader
      .prepare('SELECT session FROM leftover')([])
      .map(([key]) => Number(key)),
  )
}

/** Rows, and bytes of them, that one transaction deletes at most: that takes a few milliseconds. */
const batch = { rows: 500, text: 2 * 1024 * 1024, checkpoints: 16 }

export async function leftovers({ writer, commit, inserts, keys }: LeftoversDeps): Promise<Leftovers> {
  const put = await writer.prepare('INSERT OR REPLACE INTO leftover (session, user, size) VALUES (?, ?, ?)')
  const drop = await writer.prepare('DELETE FROM leftover WHERE session = ?')
  const changes = await writer.prepare('SELECT changes()')
  const dropped = (key: number, turn: Pick<Turn, 'onCommit'>): void => {
    drop.run([key])
    turn.onCommit(() => void keys.delete(key))
  }

  /** Whether something was deleted. */
  const deleted = async (sql: string): Promise<boolean> => {
    await writer.exec(sql)
    return Number(changes.first([])?.[0]) > 0
  }
  const clearSome = (key: number): Promise<boolean> =>
    commit(async (turn) => {
      turn.bulk()
      inserts.insertHere() // rows of the same transaction may be among what is deleted
      if ((await deleted(rowsSql(key))) || (await deleted(checkpointsSql(key)))) return true
      if (await deleted(unfindSql(key, batch.rows))) return true
      dropped(key, turn)
      return false
    })
  const clear = async (key: number): Promise<void> => {
    while (await clearSome(key));
  }
  return {
    note: (key, user = '', size = 0) => {
      keys.add(key) // even if the transaction fails: then the table is queried in vain
      put.run([key, user, size])
    },
    adopted: dropped,
    clear,
    clearAll: async () => {
      for (const key of [...keys]) await clear(key)
    },
  }
}

/** The rows of a table that belong to no session and to no fork. `exec`, which runs on another thread, takes no parameters. */
function orphans(table: string, key: number): string {
  return `FROM ${table} WHERE session = ${key} AND seq > ${sharedUpTo(String(key), 0)}
    AND NOT EXISTS (SELECT 1 FROM session WHERE id = ${key})`
}

/** The messages are removed from the index before their events are deleted; the events come last, because they are counted. */
function rowsSql(key: number): string {
  const ids = `SELECT id FROM (
    SELECT id, sum(octet_length(body)) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) - octet_length(body) AS before
    ${orphans('event', key)} ORDER BY seq LIMIT ${batch.rows}) WHERE before <= ${batch.text}`
  return `DELETE FROM message_text WHERE rowid IN (${ids}); DELETE FROM event WHERE id IN (${ids})`
}

function checkpointsSql(key: number): string {
  const seqs = `SELECT seq ${orphans('checkpoint', key)} LIMIT ${batch.checkpoints}`
  return `DELETE FROM checkpoint WHERE session = ${key} AND seq IN (${seqs})`
}
