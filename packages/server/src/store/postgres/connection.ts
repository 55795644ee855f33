import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { MillraceError } from '@millrace/core'
import pg from 'pg'
import { asPostgresFailure, postgresFailed } from './failure.ts'

/** A Buffer is a value in the binary format of PostgreSQL. */
export type Value = string | number | boolean | null | Buffer | readonly (string | number | null)[]
export type PgRow = readonly unknown[]
export type Query = (text: string | Prepared, values?: readonly Value[]) => Promise<readonly PgRow[]>

/** A statement that each connection parses and plans once. */
export interface Prepared {
  readonly name: string
  readonly text: string
}

/** The name is made from the text: where several versions of Millrace share the connections of a pooler, one name is one statement. */
export function prepared(text: string): Prepared {
  return { name: `millrace_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`, text }
}

export interface PgConnection {
  /** The URL without its password, for people. */
  readonly place: string
  readonly config: pg.ClientConfig
  /** One statement. A lost connection is tried again for as long as `patience`: only for statements that may run twice. */
  readonly query: Query
  /** One statement, once: the caller finds out what happened when it fails. */
  readonly once: Query
  /** All or nothing; never tried again. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>
  /** Waits until the server answers, or throws after `patience`. */
  reachable(): Promise<void>
  close(): Promise<void>
}

export interface ConnectionOptions {
  readonly url: string
  readonly schema: string
  readonly connections: number
  /** How long a statement waits for a server that is gone, in ms. */
  readonly patience: number
  /** What the server shows this program as. */
  readonly name?: string
  /** How long a new connection may take, in ms. */
  readonly connectTimeout?: number
}

const firstPause = 50
const longestPause = 1000
/** Without an answer for so long a connection is given up, in ms: a network that swallows packets reports no error. */
const silence = 30_000

/** A pool of connections. Rows are lists, because they are cheaper than objects; bigint is a number (every one is below 2^53). */
export function pgConnect(options: ConnectionOptions): PgConnection {
  const { url, schema, connections, patience, name = 'millrace', connectTimeout = 15_000 } = options
  const place = placeOf(url)
  const config: pg.ClientConfig = {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: connectTimeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    query_timeout: silence,
    types: { getTypeParser: (id, format) => (id === 20 ? Number : pg.types.getTypeParser(id, format as 'text')) },
  }
  // The pool's limit is also one for statements that wait for a free connection, and those wait for their turn only.
  class Client extends pg.Client {
    constructor(given?: pg.ClientConfig) {
      super({ ...given, connectionTimeoutMillis: connectTimeout })
    }
  }
  const pool = new pg.Pool({
    ...config,
    Client,
    connectionTimeoutMillis: silence,
    max: connections,
    idleTimeoutMillis: 30_000,
    // The pool waits for it, although its types do not say so.
    onConnect: (client) => client.query(`SET search_path TO ${identifier(schema)}`),
  } as pg.PoolConfig)
  // A connection that is lost while idle leaves the pool; the next statement opens another one.
  pool.on('error', () => undefined)
  // A pooler may give the next statement to another connection of the server, which does not know the names of this one.
  let keepsNames = true
  const once: Query = async (statement, values = []) => {
    try {
      return (await pool.query(queryOf(statement, values, keepsNames))).rows
    } catch (error) {
      if (!keepsNames || typeof statement === 'string' || !isUnknownName(error))
        throw asPostgresFailure(error, place, 'use')
    }
    keepsNames = false
    return once(statement.text, values)
  }
  const patiently = async <T>(attempt: () => Promise<T>): Promise<T> => {
    const end = performance.now() + patience
    for (let wait = firstPause; ; wait = Math.min(longestPause, wait * 2)) {
      try {
        return await attempt()
      } catch (error) {
        if (!isCutOff(error) || performance.now() + wait > end) throw error
        await pause(wait)
      }
    }
  }
  return {
    place,
    config,
    once,
    query: (text, values) => patiently(() => once(text, values)),
    reachable: () => patiently(async () => void (await once('SELECT 1'))),
    transaction: async (work) => {
      const client = await patiently(() =>
        pool.connect().catch((error: unknown) => Promise.reject(asPostgresFailure(error, place, 'use'))),
      )
      let failed: Error | undefined
      const query: Query = async (statement, values = []) =>
        (await client.query(queryOf(statement, values, false))).rows
      try {
        await query('BEGIN')
        const value = await work(query)
        await query('COMMIT')
        return value
      } catch (error) {
        await query('ROLLBACK').catch((broken: Error) => {
          failed = broken // the pool throws this connection away
        })
        throw asPostgresFailure(error, place, 'use')
      } finally {
        client.release(failed)
      }
    },
    close: () => pool.end(),
  }
}

function queryOf(statement: string | Prepared, values: readonly Value[], isNamed: boolean): pg.QueryArrayConfig {
  const { text, name } = typeof statement === 'string' ? { text: statement, name: undefined } : statement
  const query = { text, values: [...values], rowMode: 'array' as const }
  return isNamed && name !== undefined ? { ...query, name } : query
}

/** The connection does not know a prepared statement, or has one of that name already. The statement did not run. */
function isUnknownName(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '26000' || error.code === '42P05')
}

/** Whether the connection was lost, so that the statement may have run or not. */
export function isCutOff(error: unknown): boolean {
  return error instanceof MillraceError && error.facts.reason === 'unreachable'
}

/** An identifier for SQL. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function placeOf(url: string): string {
  let parsed: URL
  try {
    parsed = new URL(url)
  } catch (cause) {
    throw postgresFailed('address', 'the database', 'open', cause)
  }
  if (!/^postgres(ql)?:$/.test(parsed.protocol)) throw postgresFailed('address', 'the database', 'open')
  parsed.password = ''
  parsed.search = ''
  return parsed.href
}
