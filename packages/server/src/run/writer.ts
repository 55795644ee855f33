import {
  type Draft,
  type EventLog,
  type Lease,
  MillraceError,
  type Outcome,
  type RunEvent,
  type RunFinished,
} from '@millrace/core'
import { PrintedPartial } from '../agent/printed-partial.ts'
import { closeRun, closing, draftsOf } from './close.ts'
import type { RunLedger } from './ledger.ts'
import type { RunLimits } from './limits.ts'

/** The end that was written; `lost` when another process has the run, or recovery has to end it; `handed-over` on purpose. */
export type FinishResult = Outcome | 'lost' | 'handed-over'

export interface RunWriterOptions {
  readonly log: EventLog
  readonly lease: Lease
  readonly ledger: RunLedger
  readonly limits: Pick<RunLimits, 'buffer' | 'bufferSize'>
  /** An append failed; `lease-lost` means that another process writes this run now. */
  readonly onBroken: (error: unknown) => void
}

/** How long to wait, in ms, before each attempt to write the end of a run whose store failed. */
const attempts = [50, 500, 2_000]

/**
 * The only writer of a run, and the only queue between its agent and the log. Events that are put in one turn of the
 * event loop, or while a commit is in flight, go with one commit, without a timer; an agent too far ahead of the store has to wait. `finish` writes the
 * end, once, and nothing can be put after it (SPEC 4.1).
 */
export class RunWriter {
  readonly #options: RunWriterOptions
  #pending: Draft[] = []
  #pendingSize = 0
  #isCommitting = false
  #isScheduled = false
  #finished: Promise<FinishResult> | undefined
  #broken: unknown
  /** The next append is the last. */
  #last = false
  #room: (() => void) | undefined
  #idle: (() => void) | undefined
  /** How many events were put, how many of them are in the commit under way, and how many are durable. */
  #put = 0
  #sent = 0
  #durable = 0
  #waiting: { readonly count: number; readonly resume: () => void }[] = []

  constructor(options: RunWriterOptions) {
    this.#options = options
  }

  /** Takes an event of about `size` characters. The caller is too far ahead if it gets a promise, and awaits it. */
  put(event: RunEvent, size: number): Promise<void> | undefined {
    if (this.#finished !== undefined || this.#broken !== undefined) return undefined
    const { lease, ledger, limits } = this.#options
    ledger.note(event)
    this.#pending.push(
      event instanceof PrintedPartial ? { run: lease.run, event, printed: event } : { run: lease.run, event },
    )
    this.#put += 1
    this.#pendingSize += size
    this.#schedule()
    if (this.#pending.length < limits.buffer && this.#pendingSize < limits.bufferSize) return undefined
    return new Promise((resolve) => {
      this.#room = resolve
    })
  }

  /** Resolves once everything that was put so far is durable, or nothing more will be. */
  async flushed(): Promise<void> {
    const count = this.#put
    if (this.#broken !== undefined || this.#durable >= count) return
    const landed = new Promise<void>((resume) => {
      this.#waiting.push({ count, resume })
    })
    this.#send()
    await landed
  }

  /**
   * Writes the end; resolves when it is durable. The first call decides; later ones wait for the same end. With `isDone`
   * the agent needs the lease no longer, and the log may release it with the end.
   */
  finish(ending: RunFinished, isDone = false): Promise<FinishResult> {
    this.#finished ??= this.#end(ending, isDone)
    return this.#finished
  }

  /** Whether the end is being written: its append itself notices a lost lease, or releases the lease. */
  get isEnding(): boolean {
    return this.#last
  }

  /** Another process has the run: nothing more is written, not even an end. */
  abandon(): Promise<FinishResult> {
    this.#break(new MillraceError('lease-lost', 'the lease of this run was lost'))
    this.#finished ??= Promise.resolve('lost')
    return this.#finished
  }

  /** Writes what was put, and no end: another process goes on with the run. */
  handOver(): Promise<FinishResult> {
    this.#finished ??= this.flushed().then(() => (this.#broken === undefined ? 'handed-over' : 'lost'))
    return this.#finished
  }

  async #end(ending: RunFinished, isDone: boolean): Promise<FinishResult> {
    const { lease, ledger } = this.#options
    if (this.#broken === undefined) {
      this.#pending.push(...draftsOf(lease.run, closing(ledger, ending)))
      this.#last = isDone
      this.#send()
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
    if (this.#broken === undefined) return ending.outcome
    return isLost(this.#broken) ? 'lost' : this.#endBroken(ending, this.#broken)
  }

  /** An append failed, so it is unknown what the store has of the run: the end is written after what it has. */
  async #endBroken(ending: RunFinished, cause: unknown): Promise<FinishResult> {
    const { log, lease } = this.#options
    const code = cause instanceof MillraceError ? cause.code : 'store-failed'
    const message = 'the store failed to record an event of the run'
    const failed: RunFinished =
      ending.outcome === 'failed' ? ending : { kind: 'run.finished', outcome: 'failed', error: { code, message } }
    for (const delay of attempts) {
      await new Promise((resolve) => setTimeout(resolve, delay))
      try {
        return (await closeRun(log, lease, failed))?.outcome ?? 'lost'
      } catch (error) {
        if (isLost(error)) return 'lost'
      }
    }
    return 'lost'
  }

  /** What an agent yields without waiting in between goes with one commit, and one fsync. */
  #schedule(): void {
    if (this.#isScheduled || this.#isCommitting) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#send()
    })
  }

  #send(): void {
    if (this.#isCommitting || this.#pending.length === 0) return
    const { log, lease } = this.#options
    const batch = this.#pending
    this.#pending = []
    this.#pendingSize = 0
    this.#sent = this.#put
    this.#isCommitting = true
    log.append(lease.session, batch, lease, { last: this.#last }).then(
      () => this.#landed(),
      (error: unknown) => this.#break(error),
    )
    this.#wakeAgent()
  }

  #landed(): void {
    this.#isCommitting = false
    if (this.#broken !== undefined) return
    this.#durable = this.#sent
    if (this.#waiting.length > 0) this.#wakeWaiting()
    if (this.#pending.length > 0) this.#send()
    else this.#idle?.()
  }

  #break(error: unknown): void {
    if (this.#broken !== undefined) return
    this.#broken = error
    this.#pending = []
    this.#options.onBroken(error)
    this.#durable = Number.POSITIVE_INFINITY
    this.#wakeWaiting()
    this.#wakeAgent()
    this.#idle?.()
  }

  #wakeWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = waiting.filter(({ count }) => count > this.#durable)
    for (const { count, resume } of waiting) if (count <= this.#durable) resume()
  }

  #wakeAgent(): void {
    this.#room?.()
    this.#room = undefined
  }
}

export function isLost(error: unknown): boolean {
  return error instanceof MillraceError && (error.code === 'lease-lost' || error.code === 'not-found')
}
