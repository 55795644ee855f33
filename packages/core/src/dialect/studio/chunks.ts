/** What a `chunk` adds; undefined when it only repeats the text so far. */
export type Delta = { readonly text: string; readonly sign?: 'cumulative' | 'restarted' } | undefined

/**
 * Distinguishes deltas from the chunks of ADK Studio's own server, each of which repeats the whole text of the turn so
 * far (docs/decisions/006-errata.md). The second chunk decides for the whole stream: if it starts with the first one
 * and goes on, chunks are cumulative. Millrace never prints a second chunk that could be mistaken for that (see
 * `plainChunks`).
 */
export class ChunkText {
  #kind: 'unknown' | 'delta' | 'cumulative' = 'unknown'
  #upstream = false
  #text = ''

  /** Notes which server sent the stream: ADK Studio's own, or one that follows the schema. */
  sign(server: 'schema' | 'upstream'): void {
    if (server === 'upstream') this.#upstream = true
    else if (this.#kind === 'unknown') this.#kind = 'delta'
  }

  /** A new turn: the text starts over, but what is known about the server stays. */
  reset(): void {
    this.#text = ''
  }

  /** Whether the text so far ends with this. */
  has(text: string): boolean {
    return this.#text !== '' && this.#text.endsWith(text)
  }

  read(chunk: string): Delta {
    const first = this.#kind === 'unknown' && this.#text !== ''
    if (first) this.#kind = this.#decide(chunk)
    if (this.#kind !== 'cumulative') {
      this.#text += chunk
      return { text: chunk }
    }
    const before = this.#text
    if (chunk.length > before.length && chunk.startsWith(before)) {
      this.#text = chunk
      return { text: chunk.slice(before.length), ...(first ? { sign: 'cumulative' } : {}) }
    }
    if (before.endsWith(chunk)) return undefined
    this.#text = chunk
    return { text: chunk, sign: 'restarted' }
  }

  #decide(chunk: string): 'delta' | 'cumulative' {
    if (!chunk.startsWith(this.#text)) return 'delta'
    return chunk.length > this.#text.length || this.#upstream ? 'cumulative' : 'delta'
  }
}

/**
 * The chunks that print a text so that `ChunkText` reads deltas: where the second chunk of a stream would start with
 * the first, its first character is printed alone. Once a reader knows that it reads deltas, text is printed as it
 * comes.
 */
export class PlainChunks {
  #text: string | undefined = ''

  /** A reader knows that it reads deltas. */
  known(): void {
    this.#text = undefined
  }

  /** A new turn: the reader's text starts over too. */
  reset(): void {
    if (this.#text !== undefined) this.#text = ''
  }

  split(text: string): readonly string[] {
    const before = this.#text
    if (before === undefined) return [text]
    this.#text = before === '' ? text : undefined
    const first = [...text.slice(0, 2)][0] ?? ''
    if (before === '' || !text.startsWith(before) || first === text) return [text]
    return [first, text.slice(first.length)]
  }
}
