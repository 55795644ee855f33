import type { StreamBase } from '@millrace/core'
import type { Reader } from './reader.ts'
import { SharedEncoder, type SharedEncoderOptions } from './shared-encoder.ts'

export interface ChannelOptions extends Omit<SharedEncoderOptions, 'onOver' | 'retain' | 'base'> {
  /** How many printed bytes the encoder at the front may keep; it changes, because all channels share one total. */
  readonly retain: () => number
  readonly onError: (error: unknown) => void
  /** An encoder was opened (+1) or closed (-1). */
  readonly onEncoder: (change: 1 | -1) => void
}

/**
 * Each encoder reads the log from its first row. While there are `few`, a late reader gets one at once. Then late readers
 * gather until one is free, or for this many ms, and share the next. There are never more than `most`.
 */
const encoderCounts = { few: 3, most: 16, gather: 100 }

/**
 * One session in one format. It has a single encoder at the live end, and further ones while some readers lag behind
 * the window of the first. However many readers come late, they share a bounded number of encoders.
 */
export class Channel {
  readonly encoders = new Set<SharedEncoder>()
  /** Readers without an encoder: they wait for a free one, or their sink is full and they need none. */
  readonly #waiting = new Set<Reader>()
  #gathering: NodeJS.Timeout | undefined
  readonly #options: ChannelOptions
  /** The encoder furthest on. Only it keeps what its readers have had, for readers that come back. */
  #front: SharedEncoder | undefined

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  /**
   * Gives the reader the encoder that is furthest on and still holds what the reader lacks, or a new one, which starts
   * at `base` where its format can, else at row 1.
   */
  place(reader: Reader, base?: StreamBase): void {
    const { encoder: here } = reader
    const holds = here !== undefined && here.window.base <= reader.cursor
    if (holds && this.encoders.size === 1) return
    const found = this.#furthest((other) => other.holds(reader))
    if (found !== undefined && found === here) return
    this.part(reader)
    if (found === undefined && base === undefined && this.encoders.size >= encoderCounts.few) {
      this.#waiting.add(reader)
      this.#gather()
    } else this.#give(reader, found ?? this.#open(base))
  }

  get idle(): boolean {
    return this.encoders.size === 0 && this.#waiting.size === 0
  }

  /** For a reader that joins at the live end; its cursor says where the end was when it came. */
  placeLive(reader: Reader): void {
    const encoder = this.#furthest((other) => other.knows(reader.run)) ?? this.#open()
    reader.encoder = encoder
    encoder.joinLive(reader)
  }

  /** Takes the reader away from its encoder. An encoder without readers is closed. */
  part(reader: Reader): void {
    this.#waiting.delete(reader)
    const { encoder } = reader
    if (encoder === undefined) return
    reader.encoder = undefined
    encoder.leave(reader)
    if (encoder.idle && this.#close(encoder)) this.#serveWaiting(encoderCounts.few)
    if (!this.idle) return
    clearTimeout(this.#gathering)
    this.#gathering = undefined
  }

  #close(encoder: SharedEncoder): boolean {
    if (!this.encoders.delete(encoder)) return false
    if (encoder === this.#front) this.#front = undefined
    encoder.close()
    this.#options.onEncoder(-1)
    return true
  }

  #give(reader: Reader, encoder: SharedEncoder): void {
    this.#waiting.delete(reader)
    reader.encoder = encoder
    encoder.join(reader)
  }

  #gather(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined
      this.#serveWaiting(encoderCounts.most)
      // A reader whose sink is full comes back by itself.
      if ([...this.#waiting].some(({ ready }) => ready)) this.#gather()
    }, encoderCounts.gather)
  }

  /** Gives all readers that wait one encoder, if there are fewer than `most`. */
  #serveWaiting(most: number): void {
    const readers = [...this.#waiting].filter(({ ready }) => ready)
    if (readers.length === 0 || (this.encoders.size >= most && !this.#closeStalled())) return
    const encoder = this.#open()
    for (const reader of readers) if (this.#waiting.has(reader)) this.#give(reader, encoder)
  }

  /** Closes an encoder whose readers take nothing now. They keep their cursors and come back when they have room. */
  #closeStalled(): boolean {
    for (const encoder of this.encoders) {
      const readers = encoder.all()
      const joins = readers.length > encoder.readers.size
      if (encoder === this.#front || joins || readers.some(({ ready }) => ready)) continue
      for (const reader of readers) {
        reader.encoder = undefined
        encoder.leave(reader)
        this.#waiting.add(reader)
      }
      return this.#close(encoder)
    }
    return false
  }

  /** Passes on an error that ends readers of this channel. */
  report(error: unknown): void {
    this.#options.onError(error)
  }

  #furthest(fits: (encoder: SharedEncoder) => boolean): SharedEncoder | undefined {
    let best: SharedEncoder | undefined
    for (const encoder of this.encoders) {
      if (fits(encoder) && (best === undefined || encoder.window.head > best.window.head)) best = encoder
    }
    return best
  }

  #retained(encoder: SharedEncoder): number {
    if (this.#front === undefined || encoder.window.head >= this.#front.window.head) this.#front = encoder
    return encoder === this.#front ? this.#options.retain() : 0
  }

  #open(base?: StreamBase): SharedEncoder {
    const encoder: SharedEncoder = new SharedEncoder({
      ...this.#options,
      base,
      retain: () => this.#retained(encoder),
      onOver: (gone, error) => {
        if (error !== undefined) this.report(error)
        for (const reader of [...gone.all(), ...this.#waiting]) reader.end(error === undefined ? 'removed' : 'failed')
      },
    })
    this.encoders.add(encoder)
    this.#options.onEncoder(1)
    // Later, so that its first reader has joined: a log that refuses at once must end that reader.
    queueMicrotask(() => void encoder.run())
    return encoder
  }
}
