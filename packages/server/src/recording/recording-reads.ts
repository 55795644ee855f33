import { ReadGate, type ReadLimits } from '../view/read-gate.ts'
import { type ImportReading, type ImportThreadLimits, type ReadImport, readInThread } from './import-thread.ts'
import { textDecoding } from './text-decoding.ts'

/** Reads recordings for their import. One user's imports cannot stop or starve another user. */
export interface RecordingReads {
  /** Reads the bytes to their end, and only then calls `use`. What is wrong with the recording is a MillraceError. */
  read<About, T>(
    bytes: AsyncGenerator<Uint8Array, void>,
    reading: ImportReading<About>,
    by: Reader,
    use: (read: ReadImport<About>) => Promise<T>,
  ): Promise<T>
}

interface Reader {
  readonly user: string
  /** The client has left. */
  readonly signal: AbortSignal
}

/** A recording of no more bytes than this is read at once; a longer one has a thread. */
const short = 64 * 1024

export function recordingReads(limits: ReadLimits & ImportThreadLimits): RecordingReads {
  const threads = new ReadGate(limits)
  return {
    read: async (bytes, reading, { user, signal }, use) => {
      const first: Uint8Array[] = []
      let size = 0
      let over = false
      while (!over && size <= short) {
        const { done, value } = await bytes.next()
        if (done === true) over = true
        else {
          first.push(value)
          size += value.length
        }
      }
      if (over) {
        const decode = textDecoding(reading.isStrict === true)
        const { about, pages } = await reading.here(decode(Buffer.concat(first)) + decode())
        return use({ about, pages: each(pages) })
      }
      const leave = await threads.enter(user, signal)
      try {
        return await readInThread(all(first, bytes), reading, limits, signal, use)
      } finally {
        leave()
      }
    },
  }
}

/** What is there already, as what comes. */
export async function* each<T>(items: Iterable<T>): AsyncGenerator<T, void> {
  yield* items
}

async function* all<T>(begun: readonly T[], rest: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  yield* begun
  yield* rest
}
