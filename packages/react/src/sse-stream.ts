import {
  adk,
  type Connection,
  type ConnectionState,
  connect,
  type Dialect,
  defined,
  type Flow,
  type Frame,
  flowView,
  type Host,
  type Recorded,
  type RequestHeaders,
  type RunFinished,
  type StateSnapshot,
  stateKeys,
  type Timeline,
  timelineView,
} from '@millrace/core'
import { nextFrame, pageHost } from './page-host.ts'
import { SnapshotIndex } from './snapshot-index.ts'
import { type ReadFrameResult, readFrame } from './sse-message.ts'
import { plainDialect } from './sse-plain.ts'

export type SSEStatus = 'idle' | ConnectionState['phase']

/** Why a stream failed: the connection was cut, the request was refused, or the run itself failed. */
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

/** What a stream has delivered so far. Every publication is a new object. */
export interface SseState<T> {
  readonly status: SSEStatus
  readonly lastEvent: T | undefined
  readonly snapshots: StateSnapshot[]
  readonly currentSnapshotIndex: number
  readonly stateKeys: Map<string, string[]>
  readonly error: StreamError | undefined
}

export interface SseSettings<T> {
  /** True: parsed ADK events; false: flattened `{ type, data }` events; absent: the events of the wire as they are. */
  readonly canonical?: boolean | undefined
  /** The dialect of the stream, needed for `snapshots` and `stateKeys`. Default: `adk` if `canonical`, otherwise none. */
  readonly dialect?: Dialect
  readonly onMessage?: ((event: T, frame: Frame) => void) | undefined
  /** Called for a frame that cannot be read in the form that `canonical` selects. */
  readonly onUnread?: ((frame: Frame, reason: string) => void) | undefined
  readonly headers?: RequestHeaders
  /** How many of the newest snapshots are kept. Default: all. */
  readonly maxSnapshots?: number
  /** Resume after this seq. */
  readonly after?: number
  /** Continue after the end of a run: follow the session instead of one run. */
  readonly follow?: boolean
  /** Milliseconds of silence after which a connection is considered dead. */
  readonly inactivity?: number
  /** Failed attempts in a row before giving up. */
  readonly maxAttempts?: number
  /** The address at which the run can be followed if the response to its POST never arrives. */
  readonly reattach?: string
  /** Fetch, clock and timers. Default: those of the page. */
  readonly host?: Host
  /** When messages are delivered. Default: on the next animation frame. */
  readonly schedule?: (flush: () => void) => void
}

interface Arrived {
  readonly frame: Frame
  /** The frame finishes a run. */
  readonly ends: boolean
}

/** One connection and what has arrived over it. */
interface Live {
  readonly connection: Connection
  readonly host: Host
  readonly index: SnapshotIndex
  /** Frames that are not delivered yet, and rows that are not folded yet. Both are dropped afterwards. */
  readonly queue: Arrived[]
  readonly rows: Recorded[]
  line: Timeline
  graph: Flow
  open: boolean
  scheduled: boolean
  /** False while the component has not yet rendered what was delivered to it. */
  rendered: boolean
  failed: StreamError | undefined
}

/** How many milliseconds the end of a run waits at most for the component to render what came before. */
const longestCommit = 1000

/**
 * The part of `useSSE` that lives outside React. Messages are collected and delivered once per animation frame, so a
 * component renders once per frame, however many tokens arrive. The message that ends a run is delivered only after the
 * earlier ones have been rendered and their effects have run: a component that keeps its text in state, with or without
 * a ref, then has the whole text when it receives `done`.
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
  /** The component has been unmounted. */
  #left = false
  #listener: ((state: SseState<T>) => void) | undefined
  #live: Live | undefined

  constructor(settings: () => SseSettings<T>) {
    this.#settings = settings
  }

  /** Opens a stream: a POST if there is a `body` (sent only once), otherwise a GET. Closes a stream that is open. */
  readonly connect = (url: string, body?: unknown): void => {
    const { canonical, dialect = canonical === true ? adk : plainDialect, host = pageHost() } = this.#settings()
    const queue: Arrived[] = []
    const live: Live = {
      connection: connect(url, {
        ...this.#settings(),
        host,
        dialect: tapped(dialect, (arrived) => {
          queue.push(arrived)
          // Waking on rows is not enough: many frames yield no row, and without a dialect only the end does.
          this.#wake(live)
        }),
        onState: () => this.#wake(live),
        ...defined({ body }),
      }),
      host,
      queue,
      index: new SnapshotIndex(),
      rows: [],
      line: timelineView.initial,
      graph: flowView.initial,
      open: true,
      scheduled: false,
      rendered: true,
      failed: undefined,
    }
    this.#leave()
    this.#live = live
    this.#publish({ ...this.#seen(live), status: 'connecting', lastEvent: undefined, error: undefined })
    void this.#read(live)
    if (this.#left) this.#leaveSoon(host)
  }

  /** Closes the stream: what was delivered stays, nothing more is delivered. The run itself continues (SPEC 4.2). */
  readonly close = (): void => {
    if (this.#leave()) this.#publish({ ...this.state, status: 'closed' })
  }

  readonly setCurrentSnapshotIndex = (next: number | ((index: number) => number)): void => {
    const index = typeof next === 'function' ? next(this.state.currentSnapshotIndex) : next
    if (this.#live !== undefined) this.#publish({ ...this.state, ...this.#live.index.choose(index) })
  }

  /** Call on mount, and the returned function on unmount. In StrictMode a component is mounted again at once. */
  attach(listener: (state: SseState<T>) => void): () => void {
    this.#listener = listener
    this.#left = false
    return () => {
      this.#listener = undefined
      this.#left = true
      if (this.#live !== undefined) this.#leaveSoon(this.#live.host)
    }
  }

  /** Closes on the next turn unless the component is mounted again; also for `connect` calls after an unmount. */
  #leaveSoon(host: Host): void {
    host.after(0, () => {
      if (this.#listener === undefined) this.close()
    })
  }

  /** Call when the component has rendered this state and its effects have run. */
  committed(state: SseState<T>): void {
    const live = this.#live
    if (live === undefined || live.rendered || state !== this.state) return
    live.rendered = true
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
    if (!live.open || live.scheduled || !live.rendered) return
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
    let delivered = 0
    for (; delivered < queue.length && (queue[delivered]?.ends !== true || delivered === 0); delivered++) {
      const frame = queue[delivered]?.frame ?? { data: '' }
      const result = readFrame(frame, canonical) as ReadFrameResult<T>
      if ('event' in result) lastEvent = result.event
      this.#deliver(frame, result, live.host)
      if (!live.open) return // the callback has closed this stream or opened another one
    }
    queue.splice(0, delivered)
    for (const row of rows.splice(0)) {
      live.line = timelineView.apply(live.line, row)
      live.graph = flowView.apply(live.graph, row)
    }
    if (queue.length > 0) this.#hold(live)
    const current = statusOf<T>(live)
    // The server may have closed already, but for the component the stream is open until everything is delivered.
    const status = queue.length > 0 && current.status === 'closed' ? { status: 'open' as const } : current
    this.#publish({ ...this.state, ...this.#seen(live), lastEvent, ...status })
  }

  #deliver(frame: Frame, result: ReadFrameResult<T>, host: Host): void {
    const { onMessage, onUnread } = this.#settings()
    try {
      if ('event' in result) onMessage?.(result.event, frame)
      else onUnread?.(frame, result.reason)
    } catch (error) {
      // The caller sees it as an uncaught error; the stream continues.
      host.after(0, () => {
        throw error
      })
    }
  }

  /** The end of the run is next: deliver nothing more until everything before it has been rendered. */
  #hold(live: Live): void {
    live.rendered = false
    const proceed = (): void => {
      if (live.rendered) return
      live.rendered = true
      this.#flush(live)
    }
    live.host.after(this.#listener === undefined ? 0 : longestCommit, proceed)
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

/** The same dialect, reporting each frame that it decodes: exactly once, whatever was cut and re-joined in between. */
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

function statusOf<T>({ connection: { state }, failed }: Live): Pick<SseState<T>, 'status' | 'error'> {
  if (state.phase !== 'closed') return { status: state.phase, error: undefined }
  const { how, problem } = state
  if (how !== 'cut' && how !== 'refused') return { status: 'closed', error: failed }
  return { status: 'closed', error: new StreamError(how, problem?.code ?? 'remote-error', problem?.message ?? how) }
}

function failureOf({ outcome, error }: RunFinished): StreamError | undefined {
  if (outcome !== 'failed') return undefined
  return new StreamError('failed', error?.code ?? 'agent-error', error?.message ?? 'the run failed')
}
