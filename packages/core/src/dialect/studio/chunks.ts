import { beginsWith } from '../../json/begins-with.ts'

/** What a `chunk` adds; undefined when it only repeats the text so far. */
export type Delta = { readonly text: string; readonly restarted?: true } | undefined

/**
 * Reads chunks of either kind: the text of a message so far, as ADK Studio's page and server have it, or pieces
 * (docs/decisions/006-errata.md). No frame says which kind it is, except under `?chunks=delta`. So the first chunk that
 * follows another one of the same speaker decides for the stream: if it starts with that one and goes on, chunks are
 * the text so far. Where something else happened in between, a chunk that starts differently decides nothing, because
 * it may be another message. The encoder marks what would be read wrongly (`SpokenTexts`).
 */
export class ChunkText {
  #kind: 'unknown' | 'delta' | 'cumulative' = 'unknown'
  #server: 'unknown' | 'schema' | 'upstream' = 'unknown'
  /** The text so far, by speaker. A chunk of ADK Studio's own server has the text of all speakers of a turn. */
  readonly #texts = new Map<string, { text: string }>()
  #last = ''
  #interrupted = false

  /** Notes which server sent the stream: ADK Studio's own, one that follows the schema, or one that prints pieces. */
  sign(server: 'schema' | 'upstream' | 'delta'): void {
    if (server === 'delta') this.#kind = 'delta'
    else if (server === 'schema' || this.#server === 'unknown') this.#server = server
  }

  /** A new turn: the text starts over, but what is known about the server stays. */
  reset(): void {
    this.#texts.clear()
    this.#last = ''
  }

  /** The next chunk of this speaker is another message. */
  restart(speaker: string): void {
    this.#texts.delete(this.#keyOf(speaker))
    this.#last = ''
  }

  /** Something other than a chunk came. */
  interrupt(): void {
    this.#interrupted = true
  }

  /** Whether the text so far ends with this. */
  has(text: string): boolean {
    return this.#last !== '' && this.#last.endsWith(text)
  }

  read(speaker: string, chunk: string): Delta {
    const key = this.#keyOf(speaker)
    const known = this.#texts.get(key)
    const before = known?.text ?? ''
    if (this.#kind === 'unknown' && before !== '') this.#kind = this.#decide(before, chunk)
    this.#interrupted = false
    const delta = this.#kind === 'cumulative' ? cumulative(before, chunk) : { text: chunk }
    if (delta === undefined) return undefined
    const text = this.#kind === 'delta' ? before + chunk : chunk
    if (known === undefined) this.#texts.set(key, { text })
    else known.text = text
    this.#last = text
    return delta
  }

  #keyOf(speaker: string): string {
    return this.#server === 'upstream' ? '' : speaker
  }

  #decide(before: string, chunk: string): 'unknown' | 'delta' | 'cumulative' {
    if (beginsWith(chunk, before) && (chunk.length > before.length || this.#server === 'upstream')) return 'cumulative'
    return this.#interrupted ? 'unknown' : 'delta'
  }
}

function cumulative(before: string, chunk: string): Delta {
  if (chunk.length > before.length && beginsWith(chunk, before)) return { text: chunk.slice(before.length) }
  if (before.endsWith(chunk)) return undefined
  return { text: chunk, ...(before === '' ? {} : { restarted: true }) }
}

/**
 * The pieces that print a text so that `ChunkText` reads deltas: where it would take one for the text so far, the first
 * character is printed alone. Once a reader knows that it reads deltas, text is printed as it comes.
 */
export class PlainChunks {
  /** What a reader has that does not know the kind yet; undefined for one that does. */
  #text: string | undefined = ''
  #interrupted = false

  /** A reader knows that it reads deltas. */
  known(): void {
    this.#text = undefined
  }

  /** A new turn: the reader's text starts over too. */
  reset(): void {
    if (this.#text !== undefined) this.#text = ''
  }

  interrupt(): void {
    this.#interrupted = true
  }

  split(text: string): readonly string[] {
    const before = this.#text
    if (before === undefined) return [text]
    const first = [...text.slice(0, 2)][0] ?? ''
    if (before === '' || !text.startsWith(before) || first === text) {
      this.#took(before, text)
      return [text]
    }
    this.#took(before, first)
    return [first, ...this.split(text.slice(first.length))]
  }

  #took(before: string, chunk: string): void {
    this.#text = before === '' || this.#interrupted ? chunk : undefined
    this.#interrupted = false
  }
}
