import { rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MillraceError } from '@millrace/core'

/** The bytes that are kept for deleting: SQLite needs room to write down what it deletes. */
const spareBytes = 2 ** 20

/** Room on the disk that is taken while there is plenty, and given back when there is none. */
export interface SpareRoom {
  /** Takes the room, if the disk has several times as much. Does not fail. */
  take(): Promise<void>
  /** Gives it back. Returns whether there was any. */
  release(): Promise<boolean>
}

export function spareRoom(folder: string, bytes = spareBytes): SpareRoom {
  const path = join(folder, 'millrace.spare')
  const has = (): Promise<boolean> =>
    stat(path).then(
      ({ size }) => size > 0,
      () => false,
    )
  return {
    take: async () => {
      try {
        if ((await has()) || (await freeBytes(folder)) < bytes * 3) return
        await writeFile(path, Buffer.alloc(bytes), { mode: 0o600 })
      } catch {
        // Without it, deleting may fail on a full disk, and nothing else.
        await rm(path, { force: true }).catch(() => undefined)
      }
    },
    release: async () => {
      const had = await has()
      await rm(path, { force: true }).catch(() => undefined)
      return had
    },
  }
}

/** The bytes that this user may still write. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Does work that frees room. Where there is none left to do it, it is done with the spare room. */
export async function withSpareRoom<T>(spare: Pick<SpareRoom, 'release'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isFull = error instanceof MillraceError && error.facts.reason === 'full'
    if (!isFull || !(await spare.release())) throw error
    return work()
  }
}
