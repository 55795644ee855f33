import {
  type Encoder,
  type EventLog,
  type Frame,
  type RawRecorded,
  type Recorded,
  type RunEvent,
  type StreamBase,
  withSeq,
} from '@millrace/core'
import { idInKey } from '@millrace/core/store'
import { longTurn, ownTurn } from '../thread/turns.ts'
import { ByteWindow } from './byte-window.ts'
import { type Bytes, bytesOf, noBytes } from './encoded-row.ts'
import type { Reader } from './reader.ts'
import { Stop } from './stop.ts'
import type { StreamFormat } from './stream-format.ts'

export interface SharedEncoderOptions {
  readonly log: EventLog
  readonly session: string
  readonly format: StreamFormat
  /** Where it begins, if its format can: at the start of a run. */
  readonly base: StreamBase | undefined
  /** How many printed bytes it may keep that its readers have had; it changes over time. */
  readonly retain: () => number
  /** How far it may run ahead of its fastest reader, in bytes. */
  readonly ahead: number
  /** Nothing more comes: the session was removed (no error), or reading or encoding failed. */
  readonly onOver: (encoder: SharedEncoder, error: unknown) => void
}

/** Readers served before other work of the process gets a turn: a pass over 5000 readers takes 75 ms. */
const slice = 256
/** Bytes printed before other work gets a turn; a row that prints nothing counts as `quiet`. */
const stretch = 64 * 1024
const quiet = 256

/**
 * One encoder on one session's log, and the readers that share what it prints. It starts at row 1, because what a
 * dialect prints depends on every row before (SPEC 2.5), or at the start of a run, where the session's facts are all
 * that the dialect needs of the rows before. It goes on to the live end, but never further than its
 * fastest reader can follow. A reader that falls out of the window is moved to another encoder until it has caught up.
 */
export class SharedEncoder {
  readonly window = new ByteWindow()
  readonly readers = new Set<Reader>()
  readonly #options: Omit<SharedEncoderOptions, 'base'>
  readonly #encoder: Encoder
  readonly #stop = new Stop()
  /** The seq of each `run.finished` passed, by run: a reader of a run that has ended must not wait for ever. */
  readonly #ended = new Map<string, number>()
  /** The runs that have begun since this encoder did. */
  readonly #begun = new Set<string>()
  /** Runs that wait for a person, and the run that came after each of them. */
  readonly #waiting = new Map<string, string | undefined>()
  /** For a run that came after one that waited: the first run of that row. */
  readonly #first = new Map<string, string>()
  #lastRun = ''
  /** Readers that join at the live end and wait until this encoder has reached it. */
  readonly #joining = new Set<Reader>()
  /** The run that is open, '' when none is. */
  #openRun = ''
  /** Rows up to here need not be printed: every reader was past them when it joined. */
  #skipTo = Number.POSITIVE_INFINITY
  #fastest = 0
  #passing = false
  #dirty = false
  #progress: (() => void) | undefined
  /** What was printed since the last pause. */
  #cost = 0
  /** Reads the rows that are at hand; let go of once they are encoded. */
  #known: (() => Promise<readonly Recorded[]>) | undefined
  /** It sees no row up to here. */
  readonly #base: number

  constructor({ base, ...options }: SharedEncoderOptions) {
    const { format, session } = options
    this.#options = options
    const isShort = base !== undefined && format.fromFacts === true && follows(base)
    this.#base = isShort ? base.facts.seq : 0
    this.#known = base && (async () => (isShort ? base.rows : [...(await base.earlier()), ...base.rows]))
    this.window.skip(this.#base)
    const id = idInKey(session)
    this.#encoder = format.encoder(isShort ? { session: id, facts: base.facts } : { session: id })
  }

  /** Whether the window has all that the reader lacks. */
  holds({ cursor, run }: Reader): boolean {
    return this.window.base <= cursor && this.knows(run)
  }

  /** Whether it can serve readers of this run: one that began at the start of a run does not know how earlier ones ended. */
  knows(run: string | undefined): boolean {
    return this.#base === 0 || run === undefined || this.#begun.has(run)
  }

  /** Encodes the log until closed. Never rejects: `onOver` gets the error. */
  async run(): Promise<void> {
    let error: unknown
    try {
      const known = (await this.#known?.()) ?? []
      this.#known = undefined
      await this.#encode(known)
      for await (const rows of this.#following(known.at(-1)?.seq ?? this.#base)) await this.#encode(rows)
    } catch (cause) {
      error = cause
    }
    if (!this.#stop.aborted) this.#options.onOver(this, error)
  }

  /** Prints the rows for all readers, with pauses in which other work of the process gets a turn. */
  async #encode(rows: readonly (Recorded | RawRecorded)[]): Promise<void> {
    for (const row of rows) {
      if (this.#stop.aborted) return
      this.#cost += this.#take(this.#isLong(row) ? await parsedAlone(row) : row)
      if (this.#cost <= stretch) continue
      this.#cost = 0
      this.#trim()
      this.flush()
      await ownTurn()
      await this.#room()
    }
    this.#trim()
    this.flush()
    await this.#room()
  }

  #trim(): void {
    this.window.trim(this.#options.retain(), this.#fastest)
  }

  /** Whether parsing the row takes so long that it is not done in one turn with printing it. */
  #isLong(row: Recorded | RawRecorded): row is RawRecorded {
    return !('event' in row) && row.body.length > stretch && this.#options.format.printRaw === undefined
  }

  /** Stored text, where the log has it and the format can print it as it is: a replay then parses nothing. */
  #following(after: number): AsyncIterable<readonly (Recorded | RawRecorded)[]> {
    const { log, session, format } = this.#options
    const options = { after, signal: this.#stop }
    const takesRaw = format.printRaw !== undefined || this.#encoder.pushRaw !== undefined
    const raw = takesRaw ? log.followRaw?.(session, options) : undefined
    return raw ?? log.follow(session, options)
  }

  close(): void {
    this.#stop.abort()
    this.#progress?.()
  }

  /** Takes a reader whose cursor is not before the window's base. */
  join(reader: Reader): void {
    this.readers.add(reader)
    this.#skipTo = Math.min(this.#skipTo, reader.cursor)
    reader.flush()
    this.#progress?.()
  }

  /** Takes a reader that wants the prelude at `reader.cursor` or later, then what follows. */
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

  /** Every reader, including those that wait for the live end. */
  all(): readonly Reader[] {
    return [...this.readers, ...this.#joining]
  }

  get idle(): boolean {
    return this.readers.size === 0 && this.#joining.size === 0
  }

  /** A reader wrote something, so the encoder may go on. */
  advanced(cursor: number): void {
    if (cursor > this.#fastest) this.#fastest = cursor
    this.#progress?.()
  }

  /** Whether the run ended at or before the reader's cursor, so that nothing more will come for it. */
  endedBefore(run: string, cursor: number): boolean {
    const seq = this.#ended.get(run)
    return seq !== undefined && seq <= cursor
  }

  /** Whether the row was passed and no run is open. */
  isIdleAfter(seq: number): boolean {
    return this.window.head >= seq && this.#openRun === ''
  }

  /** Whether the run waits for a person, or did. */
  waited(run: string): boolean {
    return this.#waiting.has(run)
  }

  /** The run that came after one that waited. */
  runAfter(run: string): string | undefined {
    return this.#waiting.get(run)
  }

  /** The prelude replaces everything up to the window's head, so the reader's cursor is that head. */
  #admit(reader: Reader): void {
    const frames = this.#encoder.prelude()
    const seq = this.window.head
    reader.cursor = seq
    // Without frames the cursor is still sent: a reader that drops before the next event must know where it was.
    reader.write(
      this.#print(withSeq(frames.length > 0 ? frames : [{ data: '', comment: 'live' }], this.#idOf(seq, ''))),
    )
    this.readers.add(reader)
    reader.flush()
  }

  /** Gives every reader what it lacks, in slices. Rows printed meanwhile go with the same pass or the next. */
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
        if (served % slice === 0) await ownTurn()
      }
    }
    this.#passing = false
  }

  /** Encodes a row and puts it into the window. Returns what it cost, in bytes. */
  #take(row: Recorded | RawRecorded): number {
    const { seq, run } = row
    if (isStart(row)) {
      this.#opened(run)
      this.#begun.add(run)
    }
    const terminal = isEnd(row)
    if (terminal) this.#ended.set(run, seq)
    if (isWaiting(row)) this.#waiting.set(run, undefined)
    const bytes = this.#printed(row)
    const silent = seq <= this.#skipTo || (bytes === undefined && !terminal)
    const piece = silent ? undefined : { seq, run: run === '' ? this.#openRun : run, terminal, bytes: bytes ?? noBytes }
    if (seq <= this.#skipTo) this.window.skip(seq)
    else this.window.add(seq, piece)
    if (terminal && run === this.#openRun) this.#openRun = ''
    if (this.#joining.size > 0) this.#admitUpTo(seq)
    return Math.max(quiet, bytes?.size ?? 0, 'event' in row ? 0 : row.body.length)
  }

  #admitUpTo(seq: number): void {
    for (const reader of this.#joining) {
      if (reader.cursor > seq) continue
      // In this order: should the prelude fail, the reader must still be found and ended.
      this.#admit(reader)
      this.#joining.delete(reader)
    }
  }

  #opened(run: string): void {
    const before = this.#lastRun
    this.#openRun = run
    this.#lastRun = run
    if (!this.#waiting.has(before)) return
    this.#waiting.set(before, run)
    this.#first.set(run, this.#first.get(before) ?? before)
  }

  /** What the row prints; undefined for nothing. A row that no reader needs still has to go through the encoder. */
  #printed(row: Recorded | RawRecorded): Bytes | undefined {
    const needed = row.seq > this.#skipTo
    const { printRaw, printOne, printLine } = this.#options.format
    if (!('event' in row) && printRaw !== undefined) return needed ? bytesOf(printRaw(row)) : undefined
    const raw = 'event' in row ? undefined : this.#encoder.pushRaw?.(row)
    const frames = raw ?? this.#encoder.push('event' in row ? row : parsed(row))
    const [only] = frames
    if (needed && raw?.length === 1 && only !== undefined && printLine !== undefined)
      return bytesOf(printLine(only.data, row.seq))
    if (needed && printOne !== undefined && only !== undefined && frames.length === 1)
      return bytesOf(printOne(only, row.seq))
    return needed && frames.length > 0 ? this.#print(withSeq(frames, this.#idOf(row.seq, row.run))) : undefined
  }

  /**
   * The SSE id after a row. A row that belongs to no run gets the name of the open run, if there is one. A run that goes
   * on after a question gets the name of the run that asked, because a session has the name of its first run.
   */
  #idOf(seq: number, run: string): number | string {
    const { cursor } = this.#options.format
    if (cursor === undefined) return seq
    const named = run === '' ? this.#openRun : run
    return cursor(named === '' ? { seq } : { seq, run: this.#first.get(named) ?? named })
  }

  #print(frames: readonly Frame[]): Bytes {
    const { format } = this.#options
    const [only] = frames
    if (only !== undefined && frames.length === 1) return bytesOf(format.print(only))
    const printed = frames.map((frame) => format.print(frame))
    if (printed.every((part) => typeof part === 'string')) return bytesOf(printed.join(''))
    return bytesOf(Buffer.concat(printed.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))))
  }

  /** Waits while even the fastest reader is too far behind: the log keeps the rest, not this process. */
  async #room(): Promise<void> {
    while (!this.#stop.aborted && this.window.size > this.#options.ahead) {
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

/** Parses a long row in one turn; it is printed in another. */
async function parsedAlone(raw: RawRecorded): Promise<Recorded> {
  await longTurn()
  const row = parsed(raw)
  await longTurn()
  return row
}

function parsed({ seq, at, run, body }: RawRecorded): Recorded {
  const event: RunEvent = JSON.parse(body)
  return { seq, at, run, event }
}

/** Whether the rows follow the facts and begin with the start of a run. */
function follows({ facts, rows: [first] }: StreamBase): boolean {
  return first !== undefined && first.seq === facts.seq + 1 && isStart(first)
}

function isStart(row: Recorded | RawRecorded): boolean {
  return 'event' in row ? row.event.kind === 'run.started' : row.kind === 'start'
}

function isEnd(row: Recorded | RawRecorded): boolean {
  return 'event' in row ? row.event.kind === 'run.finished' : row.kind === 'end'
}

/** Stored text is parsed for its outcome: a run has one such row. */
function isWaiting(row: Recorded | RawRecorded): boolean {
  if (!('event' in row) && row.kind !== 'end') return false
  const event: RunEvent = 'event' in row ? row.event : JSON.parse(row.body)
  return event.kind === 'run.finished' && event.outcome === 'interrupted'
}
