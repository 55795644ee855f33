import type { WholeStore } from '../whole-store.ts'
import type { PostgresLog, PostgresLogOptions } from './log.ts'

export type { PostgresLog, PostgresLogOptions } from './log.ts'

// The store is loaded when it is opened: its files and its driver would add to every start of a server on SQLite.

/**
 * The durable log for many replicas: PostgreSQL. When the database cannot be opened, it rejects with `store-failed` and
 * changes nothing.
 */
export async function postgresLog(options: PostgresLogOptions): Promise<PostgresLog> {
  const { openPostgresLog } = await import('./log.ts')
  return openPostgresLog(options)
}

/** The whole store of a database. Servers can go on using it; `inUse` says whether any does. */
export async function wholePostgres(url: string, schema?: string): Promise<WholeStore> {
  const { openWholePostgres } = await import('./whole.ts')
  return openWholePostgres(url, schema)
}
