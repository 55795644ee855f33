import { statSync } from 'node:fs'
import type { MillraceError } from '@millrace/core'
import { storeFailed } from '../store-error.ts'

/** Notices that a file was removed or replaced while this process has it open: what is written to it then is lost. */
export interface Presence {
  /** Throws when a file is gone. Called after each commit, before anyone is answered. */
  check(): void
  /** Throws when a file was found to be gone earlier. */
  refuse(): void
  close(): void
}

/** How often the files are looked for while nothing is written, in ms. */
const every = 500

interface WatchedFiles {
  /** The database and its WAL: without them, nothing more is recorded. */
  readonly paths: readonly string[]
  /** The lock file. `lockAgain` makes it again; it throws while another process holds one. */
  readonly lock: string
  readonly lockAgain: () => void
  /** Called once for each loss. */
  readonly onLost: (error: MillraceError) => void
}

export function watchPresence({ paths, lock, lockAgain, onLost }: WatchedFiles): Presence {
  const known = new Map<string, string>()
  let lockId = idOf(lock)
  let lost: MillraceError | undefined
  const lose = (error: MillraceError): void => {
    if (lost !== undefined) return
    lost = error
    onLost(error)
  }
  const look = (): void => {
    for (const path of paths) {
      const id = idOf(path)
      const before = known.get(path)
      // SQLite makes the WAL with the first transaction.
      if (before === undefined && id !== undefined) known.set(path, id)
      else if (id !== before) lose(storeFailed('removed', path, 'write to'))
    }
  }
  const lookForLock = (): void => {
    if (lost !== undefined || idOf(lock) === lockId) return
    try {
      lockAgain()
      lockId = idOf(lock)
      onLost(storeFailed('unlocked', lock, 'rely on'))
    } catch {
      // Another process has just made one. It is refused, because the database is open here, and the next look gets it.
    }
  }
  look()
  const timer = setInterval(() => {
    look()
    lookForLock()
  }, every)
  timer.unref()
  return {
    check() {
      if (lost === undefined) look()
      if (lost !== undefined) throw lost
    },
    refuse() {
      if (lost !== undefined) throw lost
    },
    close: () => clearInterval(timer),
  }
}

/** Device and file: a file that was replaced has the same name and another number. */
function idOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev}:${found.ino}`
}
