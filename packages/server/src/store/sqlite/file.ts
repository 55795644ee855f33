import { constants } from 'node:fs'
import { access, open, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { MillraceError } from '@millrace/core'
import { asStoreFailure, storeFailed } from '../store-error.ts'
import { autocheckpoint } from './commit-timing.ts'
import { openReader, openWriter, type ReadConnection, type WriteConnection } from './connection.ts'
import { closeToOthers, folderSecret, prepareFolder } from './data-folder.ts'
import { type Presence, watchPresence } from './presence.ts'
import { applicationId, migrate, migrations } from './schema.ts'
import { keySessions } from './session-keys.ts'
import { type WalCopier, walCopier } from './wal-copier.ts'

/** An open database file: a connection that writes, one that reads, and a lock against other processes. */
export interface SqliteFile {
  readonly path: string
  /** Its size when it was opened, in bytes. */
  readonly size: number
  readonly writer: WriteConnection
  readonly reader: ReadConnection
  readonly copier: WalCopier
  readonly presence: Presence
  /** See `EventLog.secret`. */
  readonly secret: Uint8Array
  /** The problems that `PRAGMA integrity_check` finds; empty when there are none. */
  integrity(): Promise<readonly string[]>
  close(): Promise<void>
}

export interface SqliteFileOptions {
  readonly folder: string
  readonly now: number
  readonly owned?: boolean
  readonly maxBytes?: number
  readonly onLost?: (error: MillraceError) => void
}

/** Files up to this size are checked page by page when opened: 64 MB take about a quarter of a second. */
const checkedSize = 64 * 2 ** 20
const pageSize = 4096

/** Opens `millrace.db` in the folder and creates both if they are missing. A file that it refuses stays unchanged. */
export async function openSqliteFile({ folder, now, owned, maxBytes, onLost }: SqliteFileOptions): Promise<SqliteFile> {
  const path = join(resolve(folder), 'millrace.db')
  const lockPath = join(resolve(folder), 'millrace.lock')
  await prepareFolder(folder)
  const size = await sizeOf(path)
  const wasLocked = (await sizeOf(lockPath, 'use the data folder')) !== undefined
  let unlock = await lock(lockPath, folder)
  try {
    if (size !== undefined && size > 0) {
      await inspect(path, size)
      // Whoever removed the lock may have left a server running.
      if (!wasLocked) refuseIfOpen(path, folder)
    }
    await closeToOthers(path)
    const secret = await folderSecret(folder)
    const writer = openWriter(path)
    await writer.exec(
      `PRAGMA page_size = ${pageSize}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${autocheckpoint}`,
    )
    if (maxBytes !== undefined) await writer.exec(`PRAGMA max_page_count = ${Math.ceil(maxBytes / pageSize)}`)
    await migrate(writer, now)
    if (owned !== undefined) await keySessions(writer, owned)
    const reader = guarded(openReader(path), path)
    const copier = walCopier(path)
    reader.exec('PRAGMA busy_timeout = 1000')
    const presence = watchPresence({
      paths: [path, `${path}-wal`],
      lock: lockPath,
      lockAgain: () => {
        const again = takeLock(lockPath, folder)
        unlock()
        unlock = again
      },
      onLost: onLost ?? (() => {}),
    })
    return {
      path,
      size: size ?? 0,
      writer,
      reader,
      copier,
      presence,
      secret,
      integrity: () => integrity(path),
      close: async () => {
        presence.close()
        await copier.close()
        // This may fail: the WAL is durable already, and the next open reads it.
        await writer.exec('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => undefined)
        reader.close()
        writer.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw asStoreFailure(error, path, 'open')
  }
}

/** Makes a failed read a `store-failed` error, too. */
function guarded(reader: ReadConnection, path: string): ReadConnection {
  return {
    ...reader,
    prepare: (sql) => {
      const rows = reader.prepare(sql)
      return (values) => {
        try {
          return rows(values)
        } catch (error) {
          throw asStoreFailure(error, path, 'read')
        }
      }
    },
  }
}

/** The size of a file that can be read and written; undefined when there is none. */
async function sizeOf(path: string, doing = 'open'): Promise<number | undefined> {
  const file = await stat(path).catch(() => undefined)
  if (file === undefined) return undefined
  if (!file.isFile()) throw storeFailed('foreign', path, doing)
  try {
    await access(path, constants.R_OK | constants.W_OK)
  } catch (error) {
    throw asStoreFailure(error, path, doing)
  }
  return file.size
}

/**
 * Takes a kernel lock on a separate file. The kernel releases it when the process ends, however that happens, so it is
 * never stale. SQLite takes such a lock for an exclusive transaction, which here stays open. A second log in the same
 * process is refused as well.
 */
async function lock(path: string, folder: string): Promise<() => void> {
  try {
    await closeToOthers(path)
  } catch (error) {
    throw asStoreFailure(error, folder, 'use the data folder')
  }
  return takeLock(path, folder)
}

function takeLock(path: string, folder: string): () => void {
  const holder = openReader(path)
  try {
    holder.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
  } catch (error) {
    holder.close()
    throw asStoreFailure(error, folder, 'use the data folder')
  }
  return () => {
    holder.exec('ROLLBACK') // close() alone releases the lock only at the next garbage collection
    holder.close()
  }
}

/** Refuses a database that another process has open. Every connection to it holds a shared lock on the file. */
function refuseIfOpen(path: string, folder: string): void {
  const probe = openReader(path)
  try {
    probe.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK')
  } catch (error) {
    throw asStoreFailure(error, folder, 'use the data folder')
  } finally {
    probe.close()
  }
}

/** Checks a file through a read-only connection, so that a file of another program stays unchanged. */
async function inspect(path: string, size: number): Promise<void> {
  if ((await firstBytes(path)) !== 'SQLite format 3\0') throw storeFailed('foreign', path, 'open')
  const reader = openReader(`${pathToFileURL(path).href}?mode=ro`)
  try {
    const tables = reader
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")([])
      .map(([name]) => name)
    const [id] = reader.prepare('PRAGMA application_id')([])[0] ?? []
    if (tables.length > 0 && (id !== applicationId || !tables.includes('migration'))) {
      throw storeFailed('foreign', path, 'open')
    }
    if (tables.length > 0) {
      const [version] = reader.prepare('SELECT max(version) FROM migration')([])[0] ?? []
      const newest = migrations.at(-1)?.version ?? 0
      if (Number(version) > newest) throw storeFailed('newer', path, 'open', { version, newest })
    }
    if (size > checkedSize) return
    const found = reader
      .prepare('PRAGMA quick_check(3)')([])
      .map(([line]) => String(line))
    if (found[0] !== 'ok') throw storeFailed('damaged', path, 'open', { found })
  } catch (error) {
    throw asStoreFailure(error, path, 'open')
  } finally {
    reader.close()
  }
}

async function firstBytes(path: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}

async function integrity(path: string): Promise<readonly string[]> {
  const checker = openWriter(path)
  try {
    // The check reads every page, and `exec` runs on another thread.
    await checker.exec('CREATE TEMP TABLE found (line TEXT)')
    await checker.exec('INSERT INTO found SELECT integrity_check FROM pragma_integrity_check')
    const found = (await checker.prepare('SELECT group_concat(line, char(10)) FROM found')).first([])
    return found?.[0] === 'ok' ? [] : String(found?.[0]).split('\n')
  } catch (error) {
    throw asStoreFailure(error, path, 'check')
  } finally {
    checker.close()
  }
}
