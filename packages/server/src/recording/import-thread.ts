import { type AboutRecording, type DialectName, MillraceError, type ProblemCode } from '@millrace/core'
import type { RestoredPage } from '@millrace/core/store'
import { messagesOfThread } from '../thread/thread.ts'

export type FromImport =
  | { readonly kind: 'bytes' }
  | { readonly kind: 'about'; readonly about: AboutRecording }
  | { readonly kind: 'page'; readonly page: RestoredPage }
  | { readonly kind: 'refused'; readonly code: ProblemCode; readonly message: string; readonly facts: object }
  | { readonly kind: 'done' }
/** An answer to each message of the thread; without bytes when there are no more. */
export interface ToImport {
  readonly bytes?: Uint8Array
}

/** How a recording is read. */
export interface ImportWork {
  readonly from: DialectName | undefined
  readonly run: string
  /** The time of events that have none. */
  readonly now: number
}

export interface ImportThreadLimits {
  /** Megabytes of the heap of the thread that reads an import. */
  readonly importMemory: number
  /** Milliseconds in which the thread must have read the import. */
  readonly importPatience: number
}

export const defaultImportThreadLimits: ImportThreadLimits = { importMemory: 768, importPatience: 120_000 }

/** A recording that was read and found to be valid. */
export interface ReadImport {
  readonly about: AboutRecording
  readonly pages: AsyncIterable<RestoredPage>
}

/** Reads a recording in a thread of its own, which lives as long as `use` takes its pages. */
export async function readInThread<T>(
  bytes: AsyncIterator<Uint8Array>,
  work: ImportWork,
  { importMemory, importPatience }: ImportThreadLimits,
  signal: AbortSignal,
  use: (read: ReadImport) => Promise<T>,
): Promise<T> {
  const messages = messagesOfThread<FromImport, ToImport>({
    entry: new URL('./import-worker.js', import.meta.url),
    work,
    memory: importMemory,
    patience: importPatience,
    tooMuch,
    signal,
  })
  try {
    let message = await next(messages, {})
    while (message?.kind === 'bytes') {
      const { done, value } = await bytes.next()
      message = await next(messages, done === true ? {} : { bytes: value })
    }
    if (message?.kind !== 'about') throw new Error('the thread that reads the import has ended')
    return await use({ about: message.about, pages: pagesOf(messages) })
  } finally {
    await messages.return()
  }
}

async function* pagesOf(messages: Messages): AsyncGenerator<RestoredPage, void> {
  for (let message = await next(messages, {}); message?.kind === 'page'; message = await next(messages, {}))
    yield message.page
}

type Messages = AsyncGenerator<FromImport, void, ToImport>

async function next(messages: Messages, answer: ToImport): Promise<FromImport | undefined> {
  const { done, value } = await messages.next(answer)
  if (done === true || value === undefined) return undefined
  if (value.kind === 'refused') throw new MillraceError(value.code, value.message, { ...value.facts })
  return value
}

function tooMuch(): MillraceError {
  return new MillraceError(
    'limit',
    'reading this recording takes more memory or time than one import may use; split it',
  )
}
