import type { Channel } from './channel.ts'
import type { Bytes } from './encoded-row.ts'
import type { SharedEncoder } from './shared-encoder.ts'

/** Where a reader's bytes go, for example a socket. */
export interface Sink {
  /** Whether it takes bytes with HTTP chunk framing around them, which is made once for all readers. */
  readonly chunked: boolean
  /** Returns false when full: nothing more is written until `resume` is called. After `last`, only `end` comes. */
  write(bytes: Buffer, last?: boolean): boolean
  /** Called once. The sink calls `resume` whenever there is room again after a `false`. */
  onDrain(resume: () => void): void
  /** The stream is complete; what was written is still delivered. */
  end(): void
  /** The stream is broken off: the client must see an error, not a complete stream. */
  destroy(): void
}

/**
 * Why a stream is over: the run it followed ended or the session is idle, the reader left, the session was removed, the reader took nothing
 * for too long, reading or encoding failed, or the server is closing.
 */
export type StreamEnd = 'finished' | 'left' | 'removed' | 'stalled' | 'failed' | 'closed'

export interface ReaderOptions {
  readonly cursor: number
  readonly run: string | undefined
  /** Ends when it has had this row and no run is open. */
  readonly idleAfter?: number | undefined
  /** Where the run waits for a person, go on with the run that comes after it. */
  readonly goesOn: boolean
  readonly sink: Sink
  readonly channel: Channel
  readonly onOver: (end: StreamEnd) => void
}

/** One connection: a cursor, and whether its sink has room. It has no queue: readers share the encoder's window. */
export class Reader {
  cursor: number
  encoder: SharedEncoder | undefined
  run: string | undefined
  readonly #options: ReaderOptions
  #ready = true
  #over = false
  /** Heartbeats that found the sink full, in a row. */
  #missed = 0

  constructor(options: ReaderOptions) {
    this.#options = options
    this.cursor = options.cursor
    this.run = options.run
    options.sink.onDrain(() => {
      this.#ready = true
      this.#missed = 0
      this.flush()
    })
  }

  /** Whether its sink takes bytes now. */
  get ready(): boolean {
    return this.#ready
  }

  /** Writes what the window holds beyond the cursor, until there is no more or the sink is full. Never throws. */
  flush(): void {
    try {
      this.#flush()
    } catch (error) {
      // The caller may be a socket that has room again, which cannot handle an error.
      this.#options.channel.report(error)
      this.end('failed')
    }
  }

  #flush(): void {
    const { encoder } = this
    const { channel, idleAfter } = this.#options
    if (encoder === undefined && this.#ready && !this.#over) channel.place(this)
    while (this.#ready && !this.#over && encoder !== undefined && encoder === this.encoder) {
      if (this.cursor < encoder.window.base) {
        channel.place(this)
        return
      }
      if (this.#waits(encoder)) return
      const chunk = encoder.window.chunkAfter(this.cursor, this.run)
      if (chunk === undefined) {
        if (this.run !== undefined && encoder.endedBefore(this.run, this.cursor)) this.end('finished')
        if (idleAfter !== undefined && encoder.isIdleAfter(idleAfter)) this.end('finished')
        return
      }
      this.cursor = chunk.seq
      this.write(chunk.bytes, chunk.ends && !this.#mayGoOn(encoder))
      if (chunk.ends && !this.#mayGoOn(encoder)) this.end('finished')
      else encoder.advanced(chunk.seq)
      // It may have caught up with an encoder that is further on, and shares that one from here on.
      if (channel.encoders.size > 1) channel.place(this)
    }
  }

  #mayGoOn(encoder: SharedEncoder): boolean {
    return this.#options.goesOn && this.run !== undefined && encoder.waited(this.run)
  }

  /** Follows the run that came after one that waited. Returns whether there is none yet. */
  #waits(encoder: SharedEncoder): boolean {
    while (this.run !== undefined && this.#mayGoOn(encoder) && encoder.endedBefore(this.run, this.cursor)) {
      const next = encoder.runAfter(this.run)
      if (next === undefined) return true
      this.run = next
    }
    return false
  }

  write(bytes: Bytes, last = false): void {
    if (this.#over || bytes.size === 0) return
    const { sink } = this.#options
    try {
      this.#ready = sink.write(sink.chunked ? bytes.chunked : bytes.plain, last)
    } catch {
      // A sink that cannot be written to belongs to a client that is gone.
      this.end('left')
    }
  }

  /** Sends a heartbeat. Returns false once the sink was full for `patience` heartbeats in a row. */
  beat(bytes: Bytes, patience: number): boolean {
    if (this.#ready) this.write(bytes)
    else this.#missed += 1
    return this.#missed < patience
  }

  end(end: StreamEnd): void {
    if (this.#over) return
    this.#over = true
    const { sink, onOver } = this.#options
    if (end === 'stalled' || end === 'failed') sink.destroy()
    else sink.end()
    onOver(end)
  }
}
