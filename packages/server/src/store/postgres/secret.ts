import { randomBytes } from 'node:crypto'
import type { Query } from './connection.ts'

/** The secret of this schema, made by the first replica that asks for it (see `EventLog.secret`). */
export async function schemaSecret(query: Query): Promise<Uint8Array> {
  await query('INSERT INTO secret (id, value) VALUES (1, $1) ON CONFLICT DO NOTHING', [randomBytes(32).toString('hex')])
  const [[value] = []] = await query('SELECT value FROM secret')
  return Buffer.from(String(value), 'hex')
}
