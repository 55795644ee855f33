/** What a `chunk` adds; undefined when it only repeats what was said. */
export type Delta = { readonly text: string; readonly sign?: 'cumulative' | 'anew' } | undefined

/**
 * Tells deltas (seed 000) from ADK Studio's real chunks, each of which repeats the whole text of the turn so far. The
 * second chunk decides, for the whole stream: one that starts with all the text so far and goes on is cumulative.
 * Our own printer never prints a second chunk that could be mistaken (see `plainChunks`).
 */
export class ChunkText {
  #kind: 'unknown' | 'delta' | 'cumulative' = 'unknown'
  #upstream = false
  #text = ''

  /** A sign which server it is: ADK Studio's own, or one that keeps to the seed. */
  sign(server: 'seed' | 'upstream'): void {
    if (server === 'upstream') this.#upstream = true
    else if (this.#kind === 'unknown') this.#kind = 'delta'
  }

  /** A new turn: the text starts over, what is known of the server stays. */
  reset(): void {
    this.#text = ''
  }

  /** The text so far ends with this. */
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
    return { text: chunk, sign: 'anew' }
  }

  #decide(chunk: string): 'delta' | 'cumulative' {
    if (!chunk.startsWith(this.#text)) return 'delta'
    return chunk.length > this.#text.length || this.#upstream ? 'cumulative' : 'delta'
  }
}

/**
 * The chunks that print a text so that `ChunkText` reads deltas: where the second chunk of a stream would start with
 * the first, its first character goes alone. Once a reader knows, text is printed as it comes.
 */
export class PlainChunks {
  #text: string | undefined = ''

  /** A reader knows that it reads deltas. */
  known(): void {
    this.#text = undefined
  }

  /** A new turn: a reader's text starts over too. */
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
