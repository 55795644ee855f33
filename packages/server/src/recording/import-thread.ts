import { MillraceError, type ProblemCode } from '@millrace/core'
import type { RestoredPage } from '@millrace/core/store'
import { messagesOfThread } from '../thread/thread.ts'

export type FromImport<About> =
  | { readonly kind: 'bytes' }
  | { readonly kind: 'about'; readonly about: About }
  | { readonly kind: 'page'; readonly page: RestoredPage }
  | { readonly kind: 'refused'; readonly code: ProblemCode; readonly message: string; readonly facts: object }
  | { readonly kind: 'done' }
/** An answer to each message of the thread; without bytes when there are no more. */
export interface ToImport {
  readonly bytes?: Uint8Array
}

/** How one kind of text becomes a session. */
export interface ImportReading<About> {
  /** The entry of the thread that reads a long text: `new URL('./x-worker.js', import.meta.url)`. */
  readonly entry: URL
  readonly work: unknown
  /** Reads a short text in this thread. */
  here(text: string): Promise<ImportedText<About>>
  /** Refuses bytes that are not UTF-8. A recording may have been cut inside a character, so it is read as far as it goes. */
  readonly isStrict?: boolean
}

/** A text that was read: what it says of the session, and its rows. */
export interface ImportedText<About> {
  readonly about: About
  readonly pages: RestoredPage[]
}

export interface ImportThreadLimits {
  /** Megabytes of the heap of the thread that reads an import. */
  readonly importMemory: number
  /** Milliseconds in which the thread must have read the import. */
  readonly importPatience: number
}

export const defaultImportThreadLimits: ImportThreadLimits = { importMemory: 768, importPatience: 120_000 }

/** A text that was read and found to be valid. */
export interface ReadImport<About> {
  readonly about: About
  readonly pages: AsyncIterable<RestoredPage>
}

/** Reads a text in a thread of its own, which lives as long as `use` takes its pages. */
export async function readInThread<About, T>(
  bytes: AsyncIterator<Uint8Array>,
  { entry, work }: Pick<ImportReading<About>, 'entry' | 'work'>,
  { importMemory, importPatience }: ImportThreadLimits,
  signal: AbortSignal,
  use: (read: ReadImport<About>) => Promise<T>,
): Promise<T> {
  const messages = messagesOfThread<FromImport<About>, ToImport>({
    entry,
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

async function* pagesOf<About>(messages: Messages<About>): AsyncGenerator<RestoredPage, void> {
  for (let message = await next(messages, {}); message?.kind === 'page'; message = await next(messages, {}))
    yield message.page
}

type Messages<About> = AsyncGenerator<FromImport<About>, void, ToImport>

async function next<About>(messages: Messages<About>, answer: ToImport): Promise<FromImport<About> | undefined> {
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
