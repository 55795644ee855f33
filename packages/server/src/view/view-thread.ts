import { on } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { MillraceError, type RawRecorded, type ViewName } from '@millrace/core'

export type FromThread =
  | { readonly kind: 'rows' }
  | { readonly kind: 'piece'; readonly piece: string }
  | { readonly kind: 'done' }
/** An answer to each message of the thread; without rows when there are no more. */
export interface ToThread {
  readonly rows?: readonly RawRecorded[]
}

/** What a thread makes: a view, or the state at a seq, from the text of a checkpoint on. */
export type ThreadWork =
  | { readonly view: ViewName }
  | { readonly view: 'facts'; readonly seq: number; readonly checkpoint: string | undefined }

export interface ThreadLimits {
  /** Megabytes of the thread's heap. A view that needs more is refused. */
  readonly viewMemory: number
  /** Milliseconds in which the thread must have answered; a page of rows takes it a few. */
  readonly viewPatience: number
}

export const defaultThreadLimits: ThreadLimits = { viewMemory: 512, viewPatience: 60_000 }

/** Folds rows in a thread of its own, and yields the result as JSON in pieces. The thread ends with the signal. */
export async function* foldInThread(
  work: ThreadWork,
  pages: AsyncIterator<readonly RawRecorded[]>,
  { viewMemory, viewPatience }: ThreadLimits,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const worker = new Worker(entry(), {
    workerData: work,
    // Nothing of the server's environment and flags.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: viewMemory },
  })
  const late = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const answer = (message: ToThread): void => {
    timer = setTimeout(() => late.abort(tooMuch(work)), viewPatience)
    worker.postMessage(message)
  }
  try {
    for await (const [message] of on(worker, 'message', { signal: AbortSignal.any([signal, late.signal]) })) {
      clearTimeout(timer)
      const from = message as FromThread
      if (from.kind === 'done') return
      if (from.kind === 'piece') {
        yield from.piece
        answer({})
      } else {
        const { done, value } = await pages.next()
        answer(done === true ? {} : { rows: value })
      }
    }
  } catch (error) {
    throw late.signal.aborted || isOutOfMemory(error) ? tooMuch(work) : (signal.reason ?? error)
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function tooMuch({ view }: ThreadWork): MillraceError {
  const what = view === 'facts' ? 'state' : `${view} view`
  return new MillraceError(
    'invalid',
    `the ${what} of this session takes more memory or time than one request may use; read the session with /log or /events and fold it there`,
    { http: 'too-large' },
  )
}

/** Node runs JavaScript only: a server that runs from sources (tests) starts what was built. */
function entry(): string {
  const path = fileURLToPath(new URL('./view-worker.js', import.meta.url))
  return import.meta.url.endsWith('.ts') ? path.replace('/src/view/', '/dist/view/') : path
}
