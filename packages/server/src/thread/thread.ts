import { on } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { MillraceError } from '@millrace/core'

export interface ThreadOptions {
  /** The entry, a built file beside that of the caller: `new URL('./x-worker.js', import.meta.url)`. */
  readonly entry: URL
  readonly work: unknown
  /** Megabytes of the thread's heap. */
  readonly memory: number
  /** Milliseconds in which the thread must have answered. */
  readonly patience: number
  /** What is wrong when the thread takes more memory or time. */
  readonly tooMuch: () => MillraceError
  readonly signal: AbortSignal
}

/**
 * The messages of a thread, one at a time: what the caller passes to `next` is the answer to the message before. The
 * thread ends with the signal, or when the caller stops.
 */
export async function* messagesOfThread<From, To>(options: ThreadOptions): AsyncGenerator<From, void, To> {
  const { entry, work, memory, patience, tooMuch, signal } = options
  const worker = new Worker(builtFile(entry), {
    workerData: work,
    // Nothing of the server's environment and flags.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memory },
  })
  const late = new AbortController()
  let timer: NodeJS.Timeout | undefined
  try {
    for await (const [message] of on(worker, 'message', { signal: AbortSignal.any([signal, late.signal]) })) {
      clearTimeout(timer)
      const answer: To = yield message
      timer = setTimeout(() => late.abort(), patience)
      worker.postMessage(answer)
    }
  } catch (error) {
    throw late.signal.aborted || isOutOfMemory(error) ? tooMuch() : (signal.reason ?? error)
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

/** Node runs JavaScript only: a server that runs from sources (tests) starts what was built. */
function builtFile(entry: URL): string {
  return fileURLToPath(entry).replace('/server/src/', '/server/dist/')
}
