import {
  type Draft,
  type EventLog,
  type Lease,
  MillraceError,
  type Outcome,
  type RunEvent,
  type RunFinished,
} from '@millrace/core'
import { closeRun, closing, draftsOf } from './close.ts'
import type { RunLedger } from './ledger.ts'
import type { RunLimits } from './limits.ts'

/** The end that was written. `lost`: the run is not ours to write; whoever has it now, or recovery, gives it its end. */
export type FinishResult = Outcome | 'lost'

export interface RunWriterOptions {
  readonly log: EventLog
  readonly lease: Lease
  readonly ledger: RunLedger
  readonly limits: Pick<RunLimits, 'buffer' | 'bufferSize'>
  /** An append was refused; with `lease-lost`, another writes this run now. */
  readonly onBroken: (error: unknown) => void
}

/** How long to wait before each attempt to write the end of a run whose store failed. */
const attempts = [50, 500, 2_000]

/**
 * The only hand that writes a run. What is put while a commit is in flight goes with the next one, without a timer; a
 * writer ahead of the store is made to wait. `seal` writes the end, once: nothing can be put after it (SPEC 4.1).
 */
export class RunWriter {
  readonly #options: RunWriterOptions
  #pending: Draft[] = []
  #pendingSize = 0
  #flying = false
  #sealed: Promise<FinishResult> | undefined
  #broken: unknown
  #room: (() => void) | undefined
  #idle: (() => void) | undefined

  constructor(options: RunWriterOptions) {
    this.#options = options
  }

  /** Takes an event of about `size` characters. A promise means: too far ahead, wait for it. */
  put(event: RunEvent, size: number): Promise<void> | undefined {
    if (this.#sealed !== undefined || this.#broken !== undefined) return undefined
    const { lease, ledger, limits } = this.#options
    ledger.note(event)
    this.#pending.push({ run: lease.run, event })
    this.#pendingSize += size
    this.#send()
    if (this.#pending.length < limits.buffer && this.#pendingSize < limits.bufferSize) return undefined
    return new Promise((resolve) => {
      this.#room = resolve
    })
  }

  /** Writes the end; resolves when it is durable. The first call decides, the others wait for it. */
  finish(ending: RunFinished): Promise<FinishResult> {
    this.#sealed ??= this.#end(ending)
    return this.#sealed
  }

  /** The run is another's: nothing more is written, not even an end. */
  abandon(): Promise<FinishResult> {
    this.#break(new MillraceError('lease-lost', 'the run was given up'))
    this.#sealed ??= Promise.resolve('lost')
    return this.#sealed
  }

  async #end(ending: RunFinished): Promise<FinishResult> {
    const { lease, ledger } = this.#options
    if (this.#broken === undefined) {
      this.#pending.push(...draftsOf(lease.run, closing(ledger, ending)))
      this.#send()
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
    if (this.#broken === undefined) return ending.outcome
    return isLost(this.#broken) ? 'lost' : this.#endBroken(ending, this.#broken)
  }

  /** The store refused, and what it holds of the run is unknown: what was put and not committed never happened. */
  async #endBroken(ending: RunFinished, cause: unknown): Promise<FinishResult> {
    const { log, lease } = this.#options
    const code = cause instanceof MillraceError ? cause.code : 'store-failed'
    const message = 'the store refused what the run wrote'
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

  #send(): void {
    if (this.#flying || this.#pending.length === 0) return
    const { log, lease } = this.#options
    const batch = this.#pending
    this.#pending = []
    this.#pendingSize = 0
    this.#flying = true
    log.append(lease.session, batch, lease).then(
      () => this.#landed(),
      (error: unknown) => this.#break(error),
    )
    this.#wakeWriter()
  }

  #landed(): void {
    this.#flying = false
    if (this.#broken !== undefined) return
    if (this.#pending.length > 0) this.#send()
    else this.#idle?.()
  }

  #break(error: unknown): void {
    if (this.#broken !== undefined) return
    this.#broken = error
    this.#pending = []
    this.#options.onBroken(error)
    this.#wakeWriter()
    this.#idle?.()
  }

  #wakeWriter(): void {
    this.#room?.()
    this.#room = undefined
  }
}

export function isLost(error: unknown): boolean {
  return error instanceof MillraceError && (error.code === 'lease-lost' || error.code === 'not-found')
}
