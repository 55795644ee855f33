import { randomUUID } from 'node:crypto'
import type { RawRecorded } from '@millrace/core'
import { recordedOf } from '../recorded.ts'
import { pageByParts, type StoredSession, sessionPage, type WholeStore } from '../whole-store.ts'
import { databaseClock } from './clock.ts'
import { type PgConnection, type PgRow, pgConnect } from './connection.ts'
import { type EventRow, eventRowOf } from './event-row.ts'
import { asPostgresFailure } from './failure.ts'
import { pageOf, placeOf } from './read.ts'
import { pgMigrate } from './schema.ts'
import { schemaSecret } from './secret.ts'
import { insertEvents } from './session-queue.ts'
import { type PgSession, pgInsertSession, pgInsertValues, pgRowColumns, pgSessionOf } from './session-row.ts'
import { linkRows, pgPartsIn } from './shared-rows.ts'
import { wholePostgresShared } from './whole-shared.ts'

/** The whole store of a database. Servers can go on using it; `inUse` says whether any does. */
export async function openWholePostgres(url: string, schema = 'millrace'): Promise<WholeStore> {
  const connection = pgConnect({ url, schema, connections: 3, patience: 10_000, name: 'millrace move' })
  const { query, place } = connection
  try {
    await pgMigrate(connection, schema, Date.now())
  } catch (error) {
    await connection.close()
    throw asPostgresFailure(error, place, 'open')
  }
  const columns = `${pgRowColumns}, s.parts`
  const countOf = async (sql: string): Promise<number> => Number((await query(sql))[0]?.[0])
  return {
    place,
    counts: async () => ({
      sessions: await countOf('SELECT count(*) FROM session'),
      events: await countOf('SELECT coalesce(sum(events), 0)::bigint FROM session'),
      values: await countOf('SELECT count(*) FROM shared_state'),
      artifacts: await countOf('SELECT count(*) FROM shared_artifact'),
    }),
    inUse: () => usedBy(connection),
    sessions: (after) =>
      pageByParts(
        after,
        () =>
          countOf(
            'SELECT coalesce(max(json_array_length(parts::json)), 0) FROM session WHERE id IN (SELECT session FROM shared_rows)',
          ),
        async (parts, id) => {
          const which =
            parts === 0
              ? `s.parts = '[]'`
              : `s.id IN (SELECT session FROM shared_rows) AND json_array_length(s.parts::json) = ${parts}`
          const rows = await query(
            `SELECT ${columns} FROM session s WHERE s.id > $1 AND ${which} ORDER BY s.id LIMIT ${sessionPage}`,
            [id],
          )
          return rows.map(storedOf)
        },
      ),
    find: async (ids) => {
      const rows = await query(`SELECT ${columns} FROM session s WHERE s.id = ANY($1::text[])`, [ids])
      return new Map(rows.map(storedOf).map((session) => [session.info.id, session]))
    },
    rows: async ({ info: { id } }, after) => {
      const place = await placeOf(query, id)
      return pageOf(query, id, { ...place, parts: [] }, after, Number.POSITIVE_INFINITY)
    },
    put: (session, pages) => put(connection, session, pages),
    ...wholePostgresShared(connection),
    secret: () => schemaSecret(query),
    keepSecret: async (secret) => {
      await query(
        'INSERT INTO secret (id, value) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET value = excluded.value',
        [Buffer.from(secret).toString('hex')],
      )
    },
    close: () => connection.close(),
  }
}

function storedOf(row: PgRow): StoredSession {
  const { info, leases, remembered, widest } = pgSessionOf(row)
  const parts = pgPartsIn(String(row.at(-1)))
  return { info, epoch: leases.epoch, leases: leases.held, remembered, parts, widest }
}

/** Servers name themselves to the database. Behind a pooler they may not, but their runs hold leases. */
async function usedBy(connection: PgConnection): Promise<string | undefined> {
  const [[servers] = []] = await connection.query(
    `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'millrace'`,
  )
  if (Number(servers) > 0) return 'a server uses it; stop all servers of this database'
  const now = (await databaseClock(connection)).now()
  const [[until] = []] = await connection.query('SELECT max(lease_until) FROM session WHERE lease_until > $1', [now])
  if (until === null || until === undefined) return undefined
  return `a run is active; stop all servers, and wait ${Math.ceil((Number(until) - now) / 1000)} seconds if one has crashed`
}

async function put(
  { transaction }: PgConnection,
  { info, epoch, leases, remembered, parts, widest }: StoredSession,
  pages: AsyncIterable<readonly RawRecorded[]>,
): Promise<boolean> {
  return transaction(async (query) => {
    const counts = { partials: 0, size: 0 }
    const empty: PgSession = {
      born: randomUUID(),
      version: 0,
      info,
      leases: { epoch, held: leases },
      ...counts,
      widest,
      remembered,
    }
    const [made] = await query(pgInsertSession, pgInsertValues(empty, randomUUID()))
    if (made === undefined) return false
    await linkRows(query, info.id, parts)
    for await (const page of pages) {
      await insertEvents(query, info.id, page.map(withMessage))
      for (const { kind, body } of page) {
        if (kind === 'partial') counts.partials += 1
        counts.size += body.length
      }
    }
    await query('UPDATE session SET partials = $2, size = $3 WHERE id = $1', [info.id, counts.partials, counts.size])
    return true
  })
}

function withMessage(row: RawRecorded): EventRow {
  const named = row.kind === 'partial' || row.kind === 'whole'
  return named ? eventRowOf(recordedOf(row), row.body, row.kind) : { ...row, message: null }
}
