import { firstIndexWhere } from '@millrace/core/persistent'
import { type Bytes, type EncodedRow, joinBytes, noBytes } from './encoded-row.ts'

/** What a reader takes in one write. */
export interface Chunk {
  readonly bytes: Bytes
  /** The reader's cursor once this is written. */
  readonly seq: number
  /** The reader follows one run, and this is the end of it. */
  readonly ends: boolean
}

/** One write joins at most this many bytes (or one event): a full socket holds that much beyond its high-water mark. */
const maxWrite = 32 * 1024

/** Takes the place of a piece that was trimmed. */
const dropped: EncodedRow = { bytes: noBytes, seq: 0, run: '', terminal: false }

/**
 * The printed events of one encoder, newest last, bounded. A reader has no queue, only a cursor into this window: a
 * thousand readers share the same bytes, and everything that gathered for a slow one goes in one write.
 */
export class ByteWindow {
  /** The window holds every printed event with `base < seq <= head`. */
  base = 0
  head = 0
  #pieces: EncodedRow[] = []
  /** Pieces before this one are dropped; compacted now and then, so that dropping stays O(1) amortised. */
  #first = 0
  #size = 0
  /** Chunks made since the last event: readers with the same cursor share the joined bytes. */
  readonly #chunks = new Map<string, Chunk>()

  /** Bytes held. */
  get size(): number {
    return this.#size
  }

  /** The encoder has passed `seq`, which printed this piece, or nothing. */
  add(seq: number, piece: EncodedRow | undefined): void {
    this.head = seq
    this.#forget()
    if (piece === undefined) return
    this.#pieces.push(piece)
    this.#size += piece.bytes.size
  }

  /** The encoder has passed `seq`, and no reader needs anything up to there. */
  skip(seq: number): void {
    this.base = seq
    this.head = seq
    this.#pieces = []
    this.#first = 0
    this.#size = 0
    this.#forget()
  }

  /** Drops the oldest pieces while more than `size` bytes are held, but nothing after `upTo`. */
  trim(size: number, upTo: number): void {
    while (this.#size > size) {
      const oldest = this.#pieces[this.#first]
      if (oldest === undefined || oldest.seq > upTo) break
      this.base = oldest.seq
      this.#size -= oldest.bytes.size
      // The array is compacted later; the bytes must be freed now.
      this.#pieces[this.#first] = dropped
      this.#first += 1
    }
    if (this.#first > 1024 && this.#first * 2 > this.#pieces.length) {
      this.#pieces = this.#pieces.slice(this.#first)
      this.#first = 0
    }
    this.#forget()
  }

  /** What comes after `cursor` for a reader of the session, or of one run; undefined when there is nothing new. */
  chunkAfter(cursor: number, run: string | undefined): Chunk | undefined {
    if (cursor >= this.head) return undefined
    const key = run === undefined ? String(cursor) : `${cursor} ${run}`
    let chunk = this.#chunks.get(key)
    if (chunk === undefined) {
      chunk = this.#make(cursor, run)
      this.#chunks.set(key, chunk)
    }
    return chunk
  }

  /** How many of the bytes held a reader at `cursor` has not had. */
  ahead(cursor: number): number {
    let bytes = 0
    for (let at = this.#pieces.length - 1; at >= this.#first; at -= 1) {
      const piece = this.#pieces[at]
      if (piece === undefined || piece.seq <= cursor) break
      bytes += piece.bytes.size
    }
    return bytes
  }

  /** Called for every event, and clearing an empty Map is not free. */
  #forget(): void {
    if (this.#chunks.size > 0) this.#chunks.clear()
  }

  #make(cursor: number, run: string | undefined): Chunk {
    const parts: Bytes[] = []
    let size = 0
    let seq = cursor
    for (let at = this.#after(cursor); at < this.#pieces.length; at += 1) {
      const piece = this.#pieces[at]
      if (piece === undefined) break
      if (run !== undefined && piece.run !== run) continue
      const more = piece.bytes.size
      if (size > 0 && size + more > maxWrite) return { bytes: joinBytes(parts), seq, ends: false }
      if (more > 0) parts.push(piece.bytes)
      size += more
      seq = piece.seq
      if (run !== undefined && piece.terminal) return { bytes: joinBytes(parts), seq, ends: true }
    }
    return { bytes: joinBytes(parts), seq: this.head, ends: false }
  }

  /** The index of the first piece with seq > cursor. */
  #after(cursor: number): number {
    const first = this.#first
    return first + firstIndexWhere(this.#pieces.length - first, (at) => (this.#pieces[first + at]?.seq ?? 0) > cursor)
  }
}
