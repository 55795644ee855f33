import { type Bytes, type EncodedRow, joinBytes, noBytes } from './encoded-row.ts'

/** What a reader takes in one write. */
export interface Chunk {
  readonly bytes: Bytes
  /** The reader's cursor once this is written. */
  readonly seq: number
  /** The run it reads is over with this. */
  readonly ends: boolean
}

/** One write joins at most this much (or one event): it is what a full socket holds beyond its high-water mark. */
const maxWrite = 32 * 1024

/** In the place of what was trimmed. */
const dropped: EncodedRow = { bytes: noBytes, seq: 0, run: '', terminal: false }

/**
 * The printed events of one encoder, newest last, bounded. Readers keep no queue of their own, only a cursor into
 * this: so what is held for a thousand readers is held once, and everything that piled up for one goes in one write.
 */
export class ByteWindow {
  /** Every printed event with `base < seq <= head` is in here. */
  base = 0
  head = 0
  #pieces: EncodedRow[] = []
  /** Pieces before this one are dropped; compacted now and then, so that dropping stays O(1) amortised. */
  #first = 0
  #size = 0
  /** Portions made since the last event: readers at the same place share the joined bytes. */
  readonly #made = new Map<string, Chunk>()

  /** Bytes held. */
  get size(): number {
    return this.#size
  }

  /** The encoder passed `seq`, which printed this, or nothing. */
  add(seq: number, piece: EncodedRow | undefined): void {
    this.head = seq
    this.#forget()
    if (piece === undefined) return
    this.#pieces.push(piece)
    this.#size += piece.bytes.chunked.length
  }

  /** The encoder passed `seq`, and no reader needs anything up to there. */
  skip(seq: number): void {
    this.base = seq
    this.head = seq
    this.#pieces = []
    this.#first = 0
    this.#size = 0
    this.#forget()
  }

  /** Drops the oldest while more than `size` bytes are held, but nothing after `upTo`. */
  trim(size: number, upTo: number): void {
    while (this.#size > size) {
      const oldest = this.#pieces[this.#first]
      if (oldest === undefined || oldest.seq > upTo) break
      this.base = oldest.seq
      this.#size -= oldest.bytes.chunked.length
      // Its place stays until the next compaction; its bytes must not.
      this.#pieces[this.#first] = dropped
      this.#first += 1
    }
    if (this.#first > 1024 && this.#first * 2 > this.#pieces.length) {
      this.#pieces = this.#pieces.slice(this.#first)
      this.#first = 0
    }
    this.#forget()
  }

  /** What comes after `cursor` for a reader of everything, or of one run; undefined when there is nothing new. */
  portion(cursor: number, run: string | undefined): Chunk | undefined {
    if (cursor >= this.head) return undefined
    const key = run === undefined ? String(cursor) : `${cursor} ${run}`
    let portion = this.#made.get(key)
    if (portion === undefined) {
      portion = this.#make(cursor, run)
      this.#made.set(key, portion)
    }
    return portion
  }

  /** Bytes held that a reader at `cursor` has not had. */
  ahead(cursor: number): number {
    let bytes = 0
    for (let at = this.#pieces.length - 1; at >= this.#first; at -= 1) {
      const piece = this.#pieces[at]
      if (piece === undefined || piece.seq <= cursor) break
      bytes += piece.bytes.chunked.length
    }
    return bytes
  }

  /** Clearing an empty Map is not free, and this is asked for every event. */
  #forget(): void {
    if (this.#made.size > 0) this.#made.clear()
  }

  #make(cursor: number, run: string | undefined): Chunk {
    const parts: Bytes[] = []
    let size = 0
    let seq = cursor
    for (let at = this.#after(cursor); at < this.#pieces.length; at += 1) {
      const piece = this.#pieces[at]
      if (piece === undefined) break
      if (run !== undefined && piece.run !== run) continue
      const more = piece.bytes.chunked.length
      if (size > 0 && size + more > maxWrite) return { bytes: joinBytes(parts), seq, ends: false }
      if (more > 0) parts.push(piece.bytes)
      size += more
      seq = piece.seq
      if (run !== undefined && piece.terminal) return { bytes: joinBytes(parts), seq, ends: true }
    }
    return { bytes: joinBytes(parts), seq: this.head, ends: false }
  }

  /** The first piece with seq > cursor. */
  #after(cursor: number): number {
    let low = this.#first
    let high = this.#pieces.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#pieces[middle]?.seq ?? 0) <= cursor) low = middle + 1
      else high = middle
    }
    return low
  }
}
