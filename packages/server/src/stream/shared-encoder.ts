import { type Encoder, type EventLog, type Frame, type RawRecorded, type Recorded, withSeq } from '@millrace/core'
import { ByteWindow } from './byte-window.ts'
import { type Bytes, bytesOf, noBytes } from './encoded-row.ts'
import type { Reader } from './reader.ts'
import type { StreamFormat } from './stream-format.ts'

export interface SharedEncoderOptions {
  readonly log: EventLog
  readonly session: string
  readonly wire: StreamFormat
  /** The session's first rows, which need not be read from the log. */
  readonly rows: readonly Recorded[]
  /** How many printed bytes it may keep that its readers have had, asked each time. */
  readonly retain: () => number
  /** How far a lane's encoder may run ahead of its fastest reader, in bytes. */
  readonly ahead: number
  /** The log is over for these readers: the session is gone, or reading it failed. */
  readonly over: (lane: SharedEncoder, error: unknown) => void
}

/** Readers served before other work of the process gets a turn (performance.md C2: a pass over 5000 takes 75 ms). */
const slice = 256
/** Bytes printed before other work gets a turn; a row that prints nothing counts as `quiet`. */
const stretch = 64 * 1024
const quiet = 256

/**
 * One encoder on one session's log, and the readers that share what it prints. It starts at row 1, because what a
 * dialect prints depends on every row before (SPEC 2.5), and goes on to the live end, but never further than its
 * fastest reader can follow. A reader that falls out of the window is moved to a lane of its own and comes back.
 */
export class SharedEncoder {
  readonly window = new ByteWindow()
  readonly readers = new Set<Reader>()
  readonly #options: Omit<SharedEncoderOptions, 'rows'>
  readonly #encoder: Encoder
  readonly #stop = new AbortController()
  /** Terminal events passed, by run: a reader of a run that is over already must not wait for ever. */
  readonly #ended = new Map<string, number>()
  /** Readers that join at the live end as it was when they came, and are not there yet. */
  readonly #joining = new Set<Reader>()
  #open = ''
  /** Rows up to here need not be printed: every reader was past them when it came. */
  #skipTo = Number.POSITIVE_INFINITY
  #fastest = 0
  #passing = false
  #dirty = false
  #progress: (() => void) | undefined
  /** What was printed since the last pause. */
  #cost = 0
  /** Rows that are at hand; let go of once they are encoded. */
  #known: readonly Recorded[]

  constructor({ rows, ...options }: SharedEncoderOptions) {
    this.#options = options
    this.#known = rows
    this.#encoder = options.wire.encoder({ session: options.session })
  }

  /** Encodes the log until closed. Never rejects: `over` gets the error. */
  async run(): Promise<void> {
    let error: unknown
    try {
      const known = this.#known
      this.#known = []
      await this.#encode(known)
      for await (const rows of this.#following(known.at(-1)?.seq ?? 0)) await this.#encode(rows)
    } catch (cause) {
      error = cause
    }
    if (!this.#stop.signal.aborted) this.#options.over(this, error)
  }

  /** Prints the rows for all readers, with pauses in which other work of the process gets a turn. */
  async #encode(rows: readonly (Recorded | RawRecorded)[]): Promise<void> {
    for (const row of rows) {
      if (this.#stop.signal.aborted) return
      this.#cost += this.#take(row)
      if (this.#cost <= stretch) continue
      this.#cost = 0
      this.flush()
      await breath()
      await this.#room()
    }
    this.flush()
    await this.#room()
  }

  /** As stored text, where the log has it and the dialect need not open it: a replay then parses and prints nothing. */
  #following(after: number): AsyncIterable<readonly (Recorded | RawRecorded)[]> {
    const { log, session, wire } = this.#options
    const options = { after, signal: this.#stop.signal }
    const raw = wire.printRaw === undefined ? undefined : log.followRaw?.(session, options)
    return raw ?? log.follow(session, options)
  }

  close(): void {
    this.#stop.abort('closed')
    this.#progress?.()
  }

  /** Takes a reader whose cursor is not before the window's base. */
  join(reader: Reader): void {
    this.readers.add(reader)
    this.#skipTo = Math.min(this.#skipTo, reader.cursor)
    reader.flush()
    this.#progress?.()
  }

  /** Takes a reader that wants the prelude at `reader.cursor` or after, then what follows. */
  joinLive(reader: Reader): void {
    this.#skipTo = Math.min(this.#skipTo, reader.cursor)
    if (this.window.head >= reader.cursor) this.#admit(reader)
    else this.#joining.add(reader)
    this.#progress?.()
  }

  leave(reader: Reader): void {
    this.readers.delete(reader)
    this.#joining.delete(reader)
    this.#progress?.()
  }

  /** Every reader, those still waiting for the live end included. */
  all(): readonly Reader[] {
    return [...this.readers, ...this.#joining]
  }

  get idle(): boolean {
    return this.readers.size === 0 && this.#joining.size === 0
  }

  /** A reader wrote something: the encoder may go on. */
  advanced(cursor: number): void {
    if (cursor > this.#fastest) this.#fastest = cursor
    this.#progress?.()
  }

  /** Whether the run ended at or before the reader's cursor, so that nothing more will come for it. */
  endedBefore(run: string, cursor: number): boolean {
    const seq = this.#ended.get(run)
    return seq !== undefined && seq <= cursor
  }

  /** The prelude stands for everything up to the window's head: cursor and content are of one moment. */
  #admit(reader: Reader): void {
    const frames = this.#encoder.prelude()
    const seq = this.window.head
    reader.cursor = seq
    // Without frames the cursor still goes out: a reader that drops before the next event must know where it was.
    reader.write(
      this.#print(withSeq(frames.length > 0 ? frames : [{ data: '', comment: 'live' }], this.#idOf(seq, ''))),
    )
    this.readers.add(reader)
    reader.flush()
  }

  /** Gives every reader what it lacks, in slices; what is printed meanwhile goes along with the same or the next pass. */
  flush(): void {
    this.#dirty = true
    if (this.#passing) return
    this.#passing = true
    void this.#pass()
  }

  async #pass(): Promise<void> {
    while (this.#dirty) {
      this.#dirty = false
      let served = 0
      for (const reader of this.readers) {
        reader.flush()
        served += 1
        if (served % slice === 0) await breath()
      }
    }
    this.#passing = false
  }

  /** Returns what it cost, in bytes. */
  #take(row: Recorded | RawRecorded): number {
    const { seq, run } = row
    if (isStart(row)) this.#open = run
    const terminal = isEnd(row)
    if (terminal) this.#ended.set(run, seq)
    const bytes = this.#printed(row)
    const silent = seq <= this.#skipTo || (bytes === undefined && !terminal)
    const piece = silent ? undefined : { seq, run: run === '' ? this.#open : run, terminal, bytes: bytes ?? noBytes }
    if (seq <= this.#skipTo) this.window.skip(seq)
    else this.window.add(seq, piece)
    if (terminal && run === this.#open) this.#open = ''
    for (const reader of this.#joining) {
      if (reader.cursor > seq) continue
      this.#joining.delete(reader)
      this.#admit(reader)
    }
    this.window.trim(this.#options.retain(), this.#fastest)
    return Math.max(quiet, bytes?.chunked.length ?? 0)
  }

  /** What the row prints; undefined for nothing. A row that no reader needs goes through the encoder all the same. */
  #printed(row: Recorded | RawRecorded): Bytes | undefined {
    const needed = row.seq > this.#skipTo
    if (!('event' in row)) return needed ? bytesOf(this.#options.wire.printRaw?.(row) ?? '') : undefined
    const frames = this.#encoder.push(row)
    return needed && frames.length > 0 ? this.#print(withSeq(frames, this.#idOf(row.seq, row.run))) : undefined
  }

  /** The SSE id after a row; what belongs to no run has the name of the one that is open, if one is. */
  #idOf(seq: number, run: string): number | string {
    const { cursor } = this.#options.wire
    if (cursor === undefined) return seq
    const named = run === '' ? this.#open : run
    return cursor(named === '' ? { seq } : { seq, run: named })
  }

  #print(frames: readonly Frame[]): Bytes {
    const { wire } = this.#options
    const [only] = frames
    if (only !== undefined && frames.length === 1) return bytesOf(wire.print(only))
    const printed = frames.map((frame) => wire.print(frame))
    if (printed.every((part) => typeof part === 'string')) return bytesOf(printed.join(''))
    return bytesOf(Buffer.concat(printed.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))))
  }

  /** Waits while even the fastest reader is too far behind: the log keeps the rest, not we. */
  async #room(): Promise<void> {
    while (!this.#stop.signal.aborted && this.window.size > this.#options.ahead) {
      let fastest = 0
      for (const reader of this.readers) fastest = Math.max(fastest, reader.cursor)
      for (const reader of this.#joining) fastest = Math.max(fastest, reader.cursor)
      if (this.window.ahead(fastest) <= this.#options.ahead) return
      await new Promise<void>((resolve) => {
        this.#progress = resolve
      })
      this.#progress = undefined
    }
  }
}

function isStart(row: Recorded | RawRecorded): boolean {
  return 'event' in row ? row.event.kind === 'run.started' : row.kind === 'start'
}

function isEnd(row: Recorded | RawRecorded): boolean {
  return 'event' in row ? row.event.kind === 'run.finished' : row.kind === 'end'
}

function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
