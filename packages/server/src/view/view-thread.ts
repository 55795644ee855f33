import { MillraceError, type RawRecorded, type ViewName } from '@millrace/core'
import { messagesOfThread } from '../thread/thread.ts'

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

/** Something else that is made of all rows of a session, in a thread with an entry of its own. */
export interface FoldedElsewhere {
  readonly view: string
  /** The built file beside that of the caller, which calls `foldInThisThread`. */
  readonly entry: URL
  readonly work: unknown
}

export interface ThreadLimits {
  /** Megabytes of the thread's heap. A view that needs more is refused. */
  readonly viewMemory: number
  /** Milliseconds in which the thread must have answered; a page of rows takes it a few. */
  readonly viewPatience: number
}

export const defaultThreadLimits: ThreadLimits = { viewMemory: 512, viewPatience: 60_000 }

/** Folds rows in a thread of its own, and yields the result as JSON in pieces. The thread ends with the signal. */
export async function* foldInThread(
  work: ThreadWork | FoldedElsewhere,
  pages: AsyncIterator<readonly RawRecorded[]>,
  { viewMemory, viewPatience }: ThreadLimits,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  const messages = messagesOfThread<FromThread, ToThread>({
    ...('entry' in work
      ? { entry: work.entry, work: work.work }
      : { entry: new URL('./view-worker.js', import.meta.url), work }),
    memory: viewMemory,
    patience: viewPatience,
    tooMuch: () => tooMuch(work),
    signal,
  })
  try {
    let answer: ToThread = {}
    for (;;) {
      const { done, value: message } = await messages.next(answer)
      if (done === true || message === undefined || message.kind === 'done') return
      answer = {}
      if (message.kind === 'piece') yield message.piece
      else {
        const { done: over, value: rows } = await pages.next()
        if (over !== true) answer = { rows }
      }
    }
  } finally {
    await messages.return()
  }
}

function tooMuch({ view }: ThreadWork | FoldedElsewhere): MillraceError {
  const what = view === 'facts' ? 'state' : `${view} view`
  return new MillraceError(
    'invalid',
    `the ${what} of this session takes more memory or time than one request may use; read the session with /log or /events and fold it there`,
    { http: 'too-large' },
  )
}
