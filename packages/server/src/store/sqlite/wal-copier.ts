import { openWriter, type WriteConnection } from './connection.ts'

/**
 * Copies the pages of the WAL into the database file on a connection of its own, so that commits go on meanwhile. On the
 * connection that commits, it held them up for 8 to 55 ms each time (two cores, 50 runs at once).
 */
export interface WalCopier {
  /** Resolves once the pages that were in the WAL at the start are copied. Never rejects: what failed is copied later. */
  copy(): Promise<void>
  /** Waits for a copy that is under way. */
  close(): Promise<void>
}

/** The connection is opened for the first copy: a small log needs none. */
export function walCopier(path: string): WalCopier {
  let connection: WriteConnection | undefined
  let copying: Promise<void> = Promise.resolve()
  const copyNow = async (): Promise<void> => {
    connection ??= openWriter(path) // throws where the process has too many files open
    await connection.exec('PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(PASSIVE)')
  }
  return {
    copy: () => {
      copying = copyNow().catch(() => undefined)
      return copying
    },
    close: async () => {
      await copying
      connection?.close()
    },
  }
}
