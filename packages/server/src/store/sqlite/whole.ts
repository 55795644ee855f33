import { dirname } from 'node:path'
import type { RawRecorded } from '@millrace/core'
import { rowKindNumbers } from '../row-kind.ts'
import { asStoreFailure } from '../store-error.ts'
import { pageByParts, type StoredSession, sessionPage, type WholeStore } from '../whole-store.ts'
import type { Row, WriteConnection } from './connection.ts'
import { folderSecret, keepFolderSecret } from './data-folder.ts'
import { eventPages } from './event-row.ts'
import { openSqliteFile } from './file.ts'
import { insertSession, insertValues, rowColumns, type SessionRow, sessionRowOf } from './session-row.ts'
import { stripSplitter } from './strips.ts'
import { wholeSqliteShared } from './whole-shared.ts'

/** Rows of a removed session that this one, a fork, still needs: no other store has rows without a session. */
const isOrphaned = `EXISTS (SELECT 1 FROM shared_rows r WHERE r.session = s.id
  AND NOT EXISTS (SELECT 1 FROM session WHERE id = r.origin))`
const columns = `${rowColumns}, s.remembered, ${isOrphaned},
  (SELECT json_group_array(o.name) FROM (SELECT n.name FROM shared_rows r JOIN session n ON n.id = r.origin
    WHERE r.session = s.id ORDER BY r.upto) o)`

/** The whole store of a data folder. Opening it refuses a folder that a server has open. */
export async function wholeSqlite(folder: string, now: () => number): Promise<WholeStore> {
  const file = await openSqliteFile({ folder, now: now() })
  const { writer, reader, path } = file
  const count = (table: string): number => Number(reader.prepare(`SELECT count(*) FROM ${table}`)([])[0]?.[0])
  const pages = eventPages(reader)
  const byName = reader.prepare(`SELECT ${columns} FROM session s WHERE s.name = ?`)
  const deepest = reader.prepare(
    'SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM shared_rows GROUP BY session)',
  )
  const first = reader.prepare(
    `SELECT ${columns} FROM session s WHERE s.name > ?
       AND (NOT EXISTS (SELECT 1 FROM shared_rows WHERE session = s.id) OR ${isOrphaned}) ORDER BY s.name LIMIT ${sessionPage}`,
  )
  const deeper = reader.prepare(
    `SELECT ${columns} FROM session s WHERE s.name > ? AND NOT ${isOrphaned}
       AND s.id IN (SELECT session FROM shared_rows GROUP BY session HAVING count(*) = ?) ORDER BY s.name LIMIT ${sessionPage}`,
  )
  return {
    place: path,
    counts: async () => ({
      sessions: count('session'),
      events: Number(reader.prepare('SELECT coalesce(sum(events), 0) FROM session')([])[0]?.[0]),
      values: count('shared_state'),
      artifacts: count('shared_artifact'),
    }),
    inUse: async () => undefined,
    sessions: (after) =>
      pageByParts(
        after,
        async () => Number(deepest([])[0]?.[0]),
        async (parts, id) => (parts === 0 ? first([id]) : deeper([id, parts])).map(storedOf),
      ),
    find: async (ids) => {
      const found = ids.flatMap((id) => byName([id]).map(storedOf))
      return new Map(found.map((session) => [session.info.id, session]))
    },
    rows: async ({ info, parts }, after) => {
      const [row] = byName([info.id])
      if (row === undefined) return []
      const session = sessionRowOf(row)
      // Of a fork whose origin was removed, all rows are its own from here on.
      const { lastSeq } = session.info
      const place = { ...session, lastSeq, ...(parts.length > 0 ? { parts: [] } : {}) }
      return pages.next(place, after, Number.POSITIVE_INFINITY)
    },
    put: await putting(writer, path),
    ...(await wholeSqliteShared(writer, reader)),
    secret: () => folderSecret(dirname(path)),
    keepSecret: (secret) => keepFolderSecret(dirname(path), secret),
    close: () => file.close(),
  }
}

function storedOf(row: Row): StoredSession {
  const { info, leases, parts, widest } = sessionRowOf(row)
  const [remembered, orphaned, names] = row.slice(-3)
  const origins: readonly string[] = JSON.parse(String(names))
  return {
    info,
    epoch: leases.epoch,
    leases: leases.held,
    remembered: Number(remembered),
    parts: orphaned === 1 ? [] : parts.map(({ upTo }, i) => ({ origin: origins[i] ?? '', upTo })),
    widest,
  }
}

async function putting(writer: WriteConnection, path: string): Promise<WholeStore['put']> {
  const keyOf = await writer.prepare('SELECT id FROM session WHERE name = ?')
  const insert = await writer.prepare(insertSession)
  const lease = await writer.prepare('INSERT INTO lease (session, run, owner, epoch, until) VALUES (?, ?, ?, ?, ?)')
  const share = await writer.prepare('INSERT INTO shared_rows (session, origin, upto) VALUES (?, ?, ?)')
  const event = await writer.prepare('INSERT INTO event (session, seq, at, run, mark, body) VALUES (?, ?, ?, ?, ?, ?)')
  const split = await stripSplitter(writer)
  const rest = await writer.prepare('UPDATE session SET remembered = ?, partials = ?, size = ? WHERE id = ?')
  const inside = async (stored: StoredSession, rows: AsyncIterable<readonly RawRecorded[]>): Promise<boolean> => {
    const { info, epoch, leases, remembered, parts, widest } = stored
    if (keyOf.first([info.id]) !== undefined) return false
    const empty: SessionRow = { key: 0, info, leases: { epoch, held: leases }, partials: 0, widest, size: 0, parts: [] }
    const key = insert.run(insertValues(empty))
    for (const { run, owner, epoch: at, until } of leases) lease.run([key, run, owner, at, until])
    for (const { origin, upTo } of parts) {
      const found = keyOf.first([origin])
      if (found === undefined) throw new Error(`session ${info.id} shares rows of ${origin}, which is not there`)
      split(Number(found[0]), upTo)
      share.run([key, Number(found[0]), upTo])
    }
    let partials = 0
    let size = 0
    for await (const page of rows) {
      for (const { seq, at, run, kind, body } of page) {
        event.run([key, seq, at, run, rowKindNumbers[kind], body])
        if (kind === 'partial') partials += 1
        size += body.length
      }
    }
    rest.run([remembered, partials, size, key])
    return true
  }
  return async (stored, rows) => {
    await writer.exec('BEGIN IMMEDIATE')
    try {
      const isNew = await inside(stored, rows)
      await writer.exec('COMMIT')
      return isNew
    } catch (error) {
      await writer.exec('ROLLBACK').catch(() => undefined) // the first error counts
      throw asStoreFailure(error, path, 'write')
    }
  }
}
