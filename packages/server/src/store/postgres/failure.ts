import { MillraceError } from '@millrace/core'

/** Why PostgreSQL refused: `facts.reason` of its `store-failed` errors, for programs. */
export type PostgresReason =
  | 'address'
  | 'unreachable'
  | 'password'
  | 'database'
  | 'tls'
  | 'old'
  | 'newer'
  | 'read-only'
  | 'connections'
  | 'full'
  | 'query'

const sentences: Readonly<Record<PostgresReason, string>> = {
  address: 'the URL is not valid; write postgresql://user:password@host:5432/database',
  unreachable: 'the server does not answer; check host and port, and that PostgreSQL runs',
  password: 'the server refused this user or password; check the URL',
  database: 'the server has no database of that name; create it, or correct the URL',
  tls: 'the server and this client do not agree about TLS; add or remove sslmode=require in the URL',
  old: 'the server is too old; Millrace needs PostgreSQL 14 or newer',
  newer: 'a newer Millrace wrote the schema; upgrade this one',
  'read-only': 'this user may not write there; grant it CREATE on the database, or use another user',
  connections: 'the server has no free connection; raise max_connections, or lower --database-connections',
  full: 'the disk of the database server is full; free some space',
  query: 'the server reported an error',
}

/** By SQLSTATE, or by its first two characters. */
const byState: Readonly<Record<string, PostgresReason>> = {
  '28P01': 'password',
  '28000': 'password',
  '3D000': 'database',
  '25006': 'read-only',
  '42501': 'read-only',
  '53300': 'connections',
  '53100': 'full',
  '08': 'unreachable',
  '57P01': 'unreachable',
  '57P02': 'unreachable',
  '57P03': 'unreachable',
}
const bySystem: Readonly<Record<string, PostgresReason>> = {
  ECONNREFUSED: 'unreachable',
  ECONNRESET: 'unreachable',
  EPIPE: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  ENOENT: 'unreachable',
  ETIMEDOUT: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ERR_INVALID_URL: 'address',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls',
}

export function pgReasonOf(cause: unknown): PostgresReason {
  if (typeof cause !== 'object' || cause === null) return 'query'
  const code = 'code' in cause ? String(cause.code) : ''
  const message = 'message' in cause ? String(cause.message) : ''
  if (/does not support SSL|no encryption|SSL off|SSL connection/i.test(message)) return 'tls'
  if (/SASL|password must be a string/.test(message)) return 'password'
  const known = byState[code] ?? byState[code.slice(0, 2)] ?? bySystem[code]
  if (known !== undefined) return known
  // The driver has no code for these.
  return /terminated|timeout|ended|closed|not queryable/i.test(message) ? 'unreachable' : 'query'
}

export function postgresFailed(
  reason: PostgresReason,
  place: string,
  doing: string,
  cause?: unknown,
  facts: Readonly<Record<string, unknown>> = {},
): MillraceError {
  const why = reason === 'query' && cause instanceof Error ? `: ${cause.message}` : ''
  return new MillraceError(
    'store-failed',
    `cannot ${doing} ${place}: ${sentences[reason]}${why}`,
    { reason, place, ...facts },
    cause,
  )
}

/** Turns any error into a `store-failed`; a MillraceError stays as it is. */
export function asPostgresFailure(cause: unknown, place: string, doing: string): MillraceError {
  return cause instanceof MillraceError ? cause : postgresFailed(pgReasonOf(cause), place, doing, cause)
}
