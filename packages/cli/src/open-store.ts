import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { EventLog, MillraceError } from '@millrace/core'
import { postgresLog, sqliteLog } from '@millrace/server'

/** Which store keeps the log, and where. A new store adds a member here, a case to `storeAt` and one to `openStore`. */
export type StoreLocation = SqliteLocation | PostgresLocation

interface SqliteLocation {
  readonly kind: 'sqlite'
  readonly folder: string
}

interface PostgresLocation {
  readonly kind: 'postgres'
  readonly url: string
  /** For what is a file also here, such as evaluation sets. */
  readonly folder: string
}

export interface PostgresSettings {
  readonly connections: number
  readonly doorbell: 'notify' | 'poll'
}

export interface OpenStore {
  readonly log: EventLog
  /** The name under which this process holds the leases of its runs. */
  readonly owner: string
}

/** The store that a URL or a path names, or a sentence that says why there is none. */
export function storeAt(text: string, dataFolder = '.millrace'): StoreLocation | string {
  const scheme = /^([a-z][a-z\d+.-]+):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === 'postgres' || scheme === 'postgresql')
    return URL.canParse(text)
      ? { kind: 'postgres', url: text, folder: dataFolder }
      : 'the database URL is not valid; write postgresql://user:password@host:5432/database'
  if (scheme !== undefined && scheme !== 'file')
    return `${scheme}:// is not a store that Millrace knows; use postgresql://…, file:DIR or a path`
  const folder = folderOf(text)
  return folder === '' ? `${text} names no folder; use file:DIR` : { kind: 'sqlite', folder }
}

/** `file:DIR` may be relative, as SQLite writes it; `file:///DIR` is a URL, with its escapes. */
function folderOf(text: string): string {
  if (!/^file:/i.test(text)) return text
  if (!/^file:\/\//i.test(text)) return text.slice('file:'.length)
  try {
    return fileURLToPath(text)
  } catch {
    return ''
  }
}

export interface StoreOptions {
  readonly postgres?: PostgresSettings
  /** Sessions belong to the users of tokens. */
  readonly owned?: boolean
  /** See SqliteLogOptions. */
  readonly onLost?: (error: MillraceError) => void
}

export async function openStore(
  store: StoreLocation,
  now: () => number,
  { postgres = { connections: 10, doorbell: 'notify' }, owned = false, onLost = () => {} }: StoreOptions = {},
): Promise<OpenStore> {
  if (store.kind === 'postgres') {
    // A name of its own: after a restart, the leases of the process before it may belong to one that is only slow.
    const owner = `${hostname()}:${process.pid}:${randomUUID()}`
    return { log: await postgresLog({ url: store.url, owned, ...postgres }), owner }
  }
  const { folder } = store
  const log = await sqliteLog({ folder, now, owned, onLost })
  // SQLite admits one process per folder, so machine and folder name its only writer. A restarted server has the same
  // name, and recovers the runs of the one before it at once instead of waiting for their leases to expire.
  return { log, owner: `${hostname()}:${folder}` }
}
