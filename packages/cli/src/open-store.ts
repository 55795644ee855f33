import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { EventLog, MillraceError } from '@millrace/core'
import { sqliteLog } from '@millrace/server'

/** Which store keeps the log, and where. A new store adds a member here, a case to `storeAt` and one to `openStore`. */
export interface StoreLocation {
  readonly kind: 'sqlite'
  readonly folder: string
}

export interface OpenStore {
  readonly log: EventLog
  /** The name under which this process holds the leases of its runs. */
  readonly owner: string
}

/** The store that a URL or a path names, or a sentence that says why there is none. */
export function storeAt(text: string): StoreLocation | string {
  const scheme = /^([a-z][a-z\d+.-]+):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === 'postgres' || scheme === 'postgresql')
    return 'this build has no PostgreSQL store yet; unset DATABASE_URL or pass --data-dir DIR to use SQLite'
  if (scheme !== undefined && scheme !== 'file')
    return `${scheme}:// is not a store that Millrace knows; use file:DIR or a path`
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

/** `owned`: sessions belong to the users of tokens. `onLost`: see SqliteLogOptions. */
export async function openStore(
  { folder }: StoreLocation,
  now: () => number,
  owned = false,
  onLost: (error: MillraceError) => void = () => {},
): Promise<OpenStore> {
  const log = await sqliteLog({ folder, now, owned, onLost })
  // SQLite admits one process per folder, so machine and folder name its only writer. A restarted server has the same
  // name, and recovers the runs of the one before it at once instead of waiting for their leases to expire.
  return { log, owner: `${hostname()}:${folder}` }
}
