import type { Channel } from './channel.ts'
import type { Bytes } from './encoded-row.ts'
import type { SharedEncoder } from './shared-encoder.ts'

/** Where a reader's bytes go: a socket, or a test. */
export interface Sink {
  /** True: it wants the bytes with HTTP chunk framing around them, made once for all readers. */
  readonly chunked: boolean
  /** False when full: nothing more is written until it has called back. */
  write(bytes: Buffer): boolean
  /** Asked once: call `resume` whenever there is room again after a `false`. */
  onDrain(resume: () => void): void
  /** Nothing more will come; what was written is still to be delivered. */
  end(): void
  /** The other side takes nothing any more: give the connection up. */
  destroy(): void
}

/**
 * Why a stream is over: the run it followed ended, the reader left, the session was removed, the reader took nothing
 * for too long, reading failed, or the server closes.
 */
export type StreamEnd = 'finished' | 'left' | 'removed' | 'stalled' | 'failed' | 'closed'

export interface ReaderOptions {
  readonly cursor: number
  readonly run: string | undefined
  readonly sink: Sink
  readonly channel: Channel
  readonly over: (end: StreamEnd) => void
}

/** One connection: a cursor, and whether its sink has room. It owns no queue; the lane's window is everybody's. */
export class Reader {
  cursor: number
  lane: SharedEncoder | undefined
  readonly run: string | undefined
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

  /** Writes what the window holds beyond the cursor, until there is no more or the sink is full. Never throws. */
  flush(): void {
    try {
      this.#flush()
    } catch {
      // Called by a socket that has room again: nobody there could handle it, and the reader will come back.
      this.end('failed')
    }
  }

  #flush(): void {
    const { lane } = this
    const { channel } = this.#options
    while (this.#ready && !this.#over && lane !== undefined && lane === this.lane) {
      if (this.cursor < lane.window.base) {
        channel.place(this)
        return
      }
      const portion = lane.window.portion(this.cursor, this.run)
      if (portion === undefined) {
        if (this.run !== undefined && lane.endedBefore(this.run, this.cursor)) this.end('finished')
        return
      }
      this.cursor = portion.seq
      this.write(portion.bytes)
      if (portion.ends) this.end('finished')
      else lane.advanced(portion.seq)
      // Caught up with a lane that is further on: from here on it shares that one's encoder.
      if (channel.lanes.size > 1) channel.place(this)
    }
  }

  write(bytes: Bytes): void {
    if (this.#over || bytes.chunked.length === 0) return
    const { sink } = this.#options
    try {
      this.#ready = sink.write(sink.chunked ? bytes.chunked : bytes.plain)
    } catch {
      // A sink that cannot be written is a client that is gone.
      this.end('left')
    }
  }

  /** A sign of life; false once the sink was full for `patience` of them in a row. */
  beat(bytes: Bytes, patience: number): boolean {
    if (this.#ready) this.write(bytes)
    else this.#missed += 1
    return this.#missed < patience
  }

  end(end: StreamEnd): void {
    if (this.#over) return
    this.#over = true
    if (end === 'stalled') this.#options.sink.destroy()
    else this.#options.sink.end()
    this.#options.over(end)
  }
}
