import {
  adk,
  type Connection,
  type ConnectionState,
  connect,
  type Dialect,
  type Flow,
  type Frame,
  flowView,
  type Host,
  type Recorded,
  type RunFinished,
  type StateSnapshot,
  stateKeys,
  type Timeline,
  timelineView,
} from '@millrace/core'
import { nextFrame, pageHost } from './page-host.ts'
import { SnapshotIndex } from './snapshot-index.ts'
import { readFrame, type SseReading } from './sse-message.ts'
import { plain } from './sse-plain.ts'

export type SSEStatus = 'idle' | ConnectionState['phase']

/** Why a stream is not what was hoped for: it broke off, it was refused, or the run it told of failed. */
export class StreamError extends Error {
  readonly how: 'cut' | 'refused' | 'failed'
  readonly code: string
  constructor(how: StreamError['how'], code: string, message: string) {
    super(message)
    this.name = 'StreamError'
    this.how = how
    this.code = code
  }
}

/** What a stream has told so far; a new object each time it is published. */
export interface SseState<T> {
  readonly status: SSEStatus
  readonly lastEvent: T | undefined
  readonly snapshots: readonly StateSnapshot[]
  readonly currentSnapshotIndex: number
  readonly stateKeys: ReadonlyMap<string, readonly string[]>
  readonly error: StreamError | undefined
}

export interface SseSettings<T> {
  /** Seed 003's flag. True: ADK events taken apart; false: flattened `{ type, data }` events; absent: the wire's own. */
  readonly canonical?: boolean | undefined
  /** Which wire it is, for `snapshots` and `stateKeys`. `adk` when `canonical` is true; otherwise only its end is known. */
  readonly dialect?: Dialect
  readonly onMessage?: ((event: T, frame: Frame) => void) | undefined
  /** A frame that `canonical` asks for in a form it has not. */
  readonly onUnread?: ((frame: Frame, reason: string) => void) | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** How many snapshots are kept, the newest; by default all. */
  readonly maxSnapshots?: number
  /** Resume after this seq. */
  readonly after?: number
  /** Go on after a run's end: a session rather than a run. */
  readonly follow?: boolean
  /** Milliseconds of silence after which a connection is taken for dead. */
  readonly inactivity?: number
  /** Failed attempts in a row before giving up. */
  readonly maxAttempts?: number
  /** Where the run can be followed if the answer to its POST never arrives. */
  readonly reattach?: string
  /** Fetch, clock and timers; those of the page when absent. */
  readonly host?: Host
  /** When messages are handed over: by default with the next animation frame. */
  readonly schedule?: (flush: () => void) => void
}

interface Arrived {
  readonly frame: Frame
  /** It finishes a run. */
  readonly ends: boolean
}

/** One connection and what came over it. */
interface Live {
  readonly connection: Connection
  readonly host: Host
  readonly index: SnapshotIndex
  /** Frames that the component has not been told of, and rows that are not folded yet. No row is kept after that. */
  readonly queue: Arrived[]
  readonly rows: Recorded[]
  line: Timeline
  graph: Flow
  open: boolean
  scheduled: boolean
  /** False while the component has yet to render what it was told. */
  shown: boolean
  failed: StreamError | undefined
}

/** Nobody waits longer than this for a component to show what it was told. Milliseconds. */
const longestCommit = 1000

/**
 * One `useSSE`, outside React. Messages gather and are handed over once per animation frame, so that however many
 * tokens come, a component renders once per frame. The one that ends a run is handed over only after those before it
 * have been rendered and their effects have run: a component that keeps its text in state, with a ref or without one
 * (seed 002 shows both), then has all of it when it is told `done`.
 */
export class SseStream<T> {
  state: SseState<T> = {
    status: 'idle',
    lastEvent: undefined,
    snapshots: [],
    currentSnapshotIndex: -1,
    stateKeys: new Map(),
    error: undefined,
  }
  readonly #settings: () => SseSettings<T>
  /** The component was here and has left. */
  #left = false
  #listener: ((state: SseState<T>) => void) | undefined
  #live: Live | undefined

  constructor(settings: () => SseSettings<T>) {
    this.#settings = settings
  }

  /** Opens a stream: a POST with `body` (once, ever), else a GET. One that is open is left for it. */
  readonly connect = (url: string, body?: unknown): void => {
    const { canonical, dialect = canonical === true ? adk : plain, host = pageHost() } = this.#settings()
    const queue: Arrived[] = []
    const live: Live = {
      connection: connect(url, {
        ...this.#settings(),
        host,
        dialect: tapped(dialect, (arrived) => {
          queue.push(arrived)
          // Not every frame makes a row, and of a wire that nobody named only its end does.
          this.#wake(live)
        }),
        onState: () => this.#wake(live),
        ...(body === undefined ? {} : { body }),
      }),
      host,
      queue,
      index: new SnapshotIndex(),
      rows: [],
      line: timelineView.initial,
      graph: flowView.initial,
      open: true,
      scheduled: false,
      shown: true,
      failed: undefined,
    }
    this.#leave()
    this.#live = live
    this.#publish({ ...this.#seen(live), status: 'connecting', lastEvent: undefined, error: undefined })
    void this.#read(live)
    if (this.#left) this.#leaveSoon(host)
  }

  /** Leaves the stream. What it has told stays; nothing more is told. A run goes on without us (SPEC 4.2). */
  readonly close = (): void => {
    if (this.#leave()) this.#publish({ ...this.state, status: 'closed' })
  }

  readonly setCurrentSnapshotIndex = (next: number | ((index: number) => number)): void => {
    const index = typeof next === 'function' ? next(this.state.currentSnapshotIndex) : next
    if (this.#live !== undefined) this.#publish({ ...this.state, ...this.#live.index.choose(index) })
  }

  /** The component is there until the result is called; one that StrictMode only rehearses comes back at once. */
  attach(listener: (state: SseState<T>) => void): () => void {
    this.#listener = listener
    this.#left = false
    return () => {
      this.#listener = undefined
      this.#left = true
      if (this.#live !== undefined) this.#leaveSoon(this.#live.host)
    }
  }

  /** Unless the component is back by then. Also what a component that is gone still asks for is left at once. */
  #leaveSoon(host: Host): void {
    host.after(0, () => {
      if (this.#listener === undefined) this.close()
    })
  }

  /** The component has rendered this state, and its effects have run. */
  committed(state: SseState<T>): void {
    const live = this.#live
    if (live === undefined || live.shown || state !== this.state) return
    live.shown = true
    void Promise.resolve().then(() => this.#flush(live))
  }

  async #read(live: Live): Promise<void> {
    for await (const row of live.connection) {
      live.rows.push(row)
      if (row.event.kind === 'run.finished') live.failed = failureOf(row.event)
      this.#wake(live)
    }
    this.#wake(live)
  }

  #wake(live: Live): void {
    if (!live.open || live.scheduled || !live.shown) return
    live.scheduled = true
    const { schedule = nextFrame } = this.#settings()
    schedule(() => {
      live.scheduled = false
      this.#flush(live)
    })
  }

  #flush(live: Live): void {
    if (!live.open) return
    const { canonical } = this.#settings()
    const { queue, rows } = live
    let { lastEvent } = this.state
    let told = 0
    for (; told < queue.length && (queue[told]?.ends !== true || told === 0); told++) {
      const frame = queue[told]?.frame ?? { data: '' }
      const reading = readFrame(frame, canonical) as SseReading<T>
      if ('event' in reading) lastEvent = reading.event
      this.#tell(frame, reading, live.host)
      if (!live.open) return // closed, or connected anew, by what it was told
    }
    queue.splice(0, told)
    for (const row of rows.splice(0)) {
      live.line = timelineView.apply(live.line, row)
      live.graph = flowView.apply(live.graph, row)
    }
    if (queue.length > 0) this.#hold(live)
    const standing = standingOf<T>(live)
    // The server may have closed already: for the component it is over when it has been told all of it.
    const shown = queue.length > 0 && standing.status === 'closed' ? { status: 'open' as const } : standing
    this.#publish({ ...this.state, ...this.#seen(live), lastEvent, ...shown })
  }

  #tell(frame: Frame, reading: SseReading<T>, host: Host): void {
    const { onMessage, onUnread } = this.#settings()
    try {
      if ('event' in reading) onMessage?.(reading.event, frame)
      else onUnread?.(frame, reading.reason)
    } catch (error) {
      // Theirs to see as an uncaught error; the stream goes on.
      host.after(0, () => {
        throw error
      })
    }
  }

  /** The end is next: until what came before it has been rendered, nothing more is told. */
  #hold(live: Live): void {
    live.shown = false
    const goOn = (): void => {
      if (live.shown) return
      live.shown = true
      this.#flush(live)
    }
    live.host.after(this.#listener === undefined ? 0 : longestCommit, goOn)
  }

  #seen({ line, graph, index }: Live): Pick<SseState<T>, 'snapshots' | 'currentSnapshotIndex' | 'stateKeys'> {
    const { maxSnapshots = Number.POSITIVE_INFINITY } = this.#settings()
    return { ...index.read(line, maxSnapshots), stateKeys: stateKeys(graph) }
  }

  #leave(): boolean {
    const live = this.#live
    if (live === undefined || !live.open) return false
    live.open = false
    live.connection.close()
    return true
  }

  #publish(state: SseState<T>): void {
    this.state = state
    this.#listener?.(state)
  }
}

/** The same dialect, noting each frame on its way: exactly once, whatever was cut and re-joined in between. */
function tapped(dialect: Dialect, take: (arrived: Arrived) => void): Dialect {
  return {
    ...dialect,
    decoder(options) {
      const inner = dialect.decoder(options)
      return {
        get session() {
          return inner.session
        },
        push(frame) {
          const drafts = inner.push(frame)
          const silent = frame.comment !== undefined && frame.data === ''
          if (!silent) take({ frame, ends: drafts.some(({ event }) => event.kind === 'run.finished') })
          return drafts
        },
        end: (how) => inner.end(how),
      }
    },
  }
}

function standingOf<T>({ connection: { state }, failed }: Live): Pick<SseState<T>, 'status' | 'error'> {
  if (state.phase !== 'closed') return { status: state.phase, error: undefined }
  const { how, problem } = state
  if (how !== 'cut' && how !== 'refused') return { status: 'closed', error: failed }
  return { status: 'closed', error: new StreamError(how, problem?.code ?? 'remote-error', problem?.message ?? how) }
}

function failureOf({ outcome, error }: RunFinished): StreamError | undefined {
  if (outcome !== 'failed') return undefined
  return new StreamError('failed', error?.code ?? 'agent-error', error?.message ?? 'the run failed')
}
