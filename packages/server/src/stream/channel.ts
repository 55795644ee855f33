import type { Recorded } from '@millrace/core'
import type { Reader } from './reader.ts'
import { SharedEncoder, type SharedEncoderOptions } from './shared-encoder.ts'

export interface ChannelOptions extends Omit<SharedEncoderOptions, 'over' | 'retain' | 'rows'> {
  /** How many printed bytes the lane at the front may keep, asked each time: the total is shared among all channels. */
  readonly retain: () => number
  readonly onError: (error: unknown) => void
  /** A lane opened (+1) or closed (-1). */
  readonly onLane: (change: 1 | -1) => void
}

/** One session in one wire: usually a single lane at the live end; more while some readers lag behind its window. */
export class Channel {
  readonly lanes = new Set<SharedEncoder>()
  readonly #options: ChannelOptions
  /** The lane furthest on. Only it keeps what its readers have had, for those who come back. */
  #front: SharedEncoder | undefined

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  /**
   * Gives the reader the encoder that is furthest on and still holds what the reader lacks, or a new one, which starts
   * at row 1: with `rows`, if the caller has them, then from the log.
   */
  place(reader: Reader, rows?: readonly Recorded[]): void {
    const { lane: here } = reader
    const holds = here !== undefined && here.window.base <= reader.cursor
    if (holds && this.lanes.size === 1) return
    const lane = this.#furthest((other) => other.window.base <= reader.cursor) ?? this.#open(rows)
    if (lane === here) return
    this.part(reader)
    reader.lane = lane
    lane.join(reader)
  }

  /** For a reader that joins at the live end: its cursor is where that was when it came. */
  placeLive(reader: Reader): void {
    const lane = this.#furthest(() => true) ?? this.#open()
    reader.lane = lane
    lane.joinLive(reader)
  }

  /** Takes the reader out of its lane. A lane without readers is closed, and its encoder with it. */
  part(reader: Reader): void {
    const { lane } = reader
    if (lane === undefined) return
    reader.lane = undefined
    lane.leave(reader)
    if (!lane.idle || !this.lanes.delete(lane)) return
    if (lane === this.#front) this.#front = undefined
    lane.close()
    this.#options.onLane(-1)
  }

  #furthest(fits: (lane: SharedEncoder) => boolean): SharedEncoder | undefined {
    let best: SharedEncoder | undefined
    for (const lane of this.lanes) {
      if (fits(lane) && (best === undefined || lane.window.head > best.window.head)) best = lane
    }
    return best
  }

  #retained(lane: SharedEncoder): number {
    if (this.#front === undefined || lane.window.head >= this.#front.window.head) this.#front = lane
    return lane === this.#front ? this.#options.retain() : 0
  }

  #open(rows: readonly Recorded[] = []): SharedEncoder {
    const lane: SharedEncoder = new SharedEncoder({
      ...this.#options,
      rows,
      retain: () => this.#retained(lane),
      over: (gone, error) => {
        if (error !== undefined) this.#options.onError(error)
        for (const reader of gone.all()) reader.end(error === undefined ? 'removed' : 'failed')
      },
    })
    this.lanes.add(lane)
    this.#options.onLane(1)
    // Not before its first reader has joined: a log that refuses at once must find somebody to tell.
    queueMicrotask(() => void lane.run())
    return lane
  }
}
