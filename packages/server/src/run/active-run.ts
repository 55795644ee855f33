import {
  type EventLog,
  type Lease,
  MillraceError,
  type Recorded,
  type RunFinished,
  type RunInput,
} from '@millrace/core'
import type { Agent, RunContext } from '../agent/agent.ts'
import { cancelled, failed, problemFromError } from './ending.ts'
import { RunLedger } from './ledger.ts'
import type { RunLimits } from './limits.ts'
import { validateEvent } from './validate-event.ts'
import { type FinishResult, isLost, RunWriter } from './writer.ts'

export interface ActiveRunOptions {
  readonly log: EventLog
  readonly lease: Lease
  readonly agent: Agent
  readonly user: string
  readonly input: RunInput
  readonly limits: RunLimits
  /** The run's own rows so far. */
  readonly rows: readonly Recorded[]
  readonly context: Omit<RunContext, 'signal' | 'session' | 'run' | 'user' | 'now' | 'newId'>
  readonly now: () => number
  readonly newId: () => string
  readonly cancelOnDisconnect: boolean
}

/** Events taken from an agent before other work of the process gets a turn: one that never waits must not stop timers. */
const stretch = 128
const longestTimer = 2 ** 31 - 1

/**
 * A run from its start to its end. Whoever ends it (the agent by returning, throwing or saying so; a person; the clock;
 * a failing store) calls `#finish`, the first call counts, and the writer writes that end and nothing after it.
 */
export class ActiveRun {
  /** How it ended, once that is durable; `lost` when the run is no longer ours to end. */
  readonly ended: Promise<FinishResult>
  /** The session is free again: the agent let go, or was given up, and the lease is released. */
  readonly freed: Promise<void>
  readonly #options: ActiveRunOptions
  readonly #abort = new AbortController()
  readonly #ledger: RunLedger
  readonly #writer: RunWriter
  #finish: (ending: RunFinished) => void = () => {}
  #finished = false
  /** The agent ended by itself: there is nothing to abort. */
  #returned = false
  #lease: Lease

  constructor(options: ActiveRunOptions) {
    const { log, lease, limits, rows } = options
    this.#options = options
    this.#lease = lease
    this.#ledger = RunLedger.of(rows, lease.run)
    this.#writer = new RunWriter({
      log,
      lease,
      limits,
      ledger: this.#ledger,
      onBroken: (error) => this.#finish(failed(problemFromError(error, 'store-failed'))),
    })
    const ending = new Promise<RunFinished>((resolve) => {
      this.#finish = (how) => {
        this.#finished = true
        resolve(how)
      }
    })
    const pulled = this.#pull()
    const heartbeat = this.#heartbeat()
    this.ended = this.#end(ending)
    this.freed = this.#free(pulled, heartbeat)
  }

  get run(): string {
    return this.#lease.run
  }
  get session(): string {
    return this.#lease.session
  }
  get user(): string {
    return this.#options.user
  }
  get agent(): string {
    return this.#options.agent.name
  }
  get cancelOnDisconnect(): boolean {
    return this.#options.cancelOnDisconnect
  }
  /** Its end is decided, if not yet written. */
  get over(): boolean {
    return this.#finished
  }
  /** Its end is written. */
  settled = false

  /** Ends it from outside. Without effect once it is over. */
  cancel(message: string): void {
    this.#finish(cancelled(message))
  }

  async #end(ending: Promise<RunFinished>): Promise<FinishResult> {
    const { timeout } = this.#options.limits
    const clock = setTimeout(
      () => this.#finish(failed({ code: 'timeout', message: `the run took longer than ${timeout} ms` })),
      Math.min(timeout, longestTimer),
    )
    const how = await ending
    clearTimeout(clock)
    if (!this.#returned) this.#abort.abort(new MillraceError(how.error?.code ?? 'cancelled', how.error?.message ?? ''))
    const sealed = await this.#writer.finish(how)
    this.settled = true
    return sealed
  }

  async #free(pulled: Promise<void>, heartbeat: NodeJS.Timeout): Promise<void> {
    const how = await this.ended
    const { log, limits } = this.#options
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limits.abortGrace)
    })
    await Promise.race([pulled, patience])
    clearTimeout(timer)
    clearInterval(heartbeat)
    // A lease that cannot be released runs out, and recovery finds a run that has its end.
    if (how !== 'lost') await log.release(this.#lease).catch(() => {})
  }

  /** Takes what the agent yields until the run is over. Never rejects. */
  async #pull(): Promise<void> {
    let source: AsyncIterator<unknown> | undefined
    try {
      source = this.#start()
      for (let taken = 1; !this.#finished; taken += 1) {
        const next = await source.next()
        if (this.#finished) break
        if (next.done === true) this.#finishAsSaid(this.#outcome())
        else await this.#take(next.value, taken)
        if (taken % stretch === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    } catch (error) {
      this.#finish(failed(problemFromError(error, 'agent-error')))
    }
    try {
      await source?.return?.()
    } catch {
      // It is over: how the agent cleans up changes nothing.
    }
  }

  #start(): AsyncIterator<unknown> {
    const { agent, input, context, lease, user, now, newId } = this.#options
    const { session, run } = lease
    const events: Partial<AsyncIterable<unknown>> = agent.run(input, {
      ...context,
      session,
      run,
      user,
      now,
      newId,
      signal: this.#abort.signal,
    })
    const source = events[Symbol.asyncIterator]?.()
    if (source === undefined) throw new MillraceError('garbage', 'the agent gave no stream of events')
    return source
  }

  #take(value: unknown, taken: number): Promise<void> | undefined {
    const { limits } = this.#options
    const admitted = validateEvent(value, limits.eventSize)
    if ('problem' in admitted) {
      void this.#writer.put(admitted.kept, 0)
      this.#finish(failed(admitted.problem))
      return undefined
    }
    const { event, size } = admitted
    if (event.kind === 'run.finished') {
      this.#finishAsSaid(event)
      return undefined
    }
    if (taken > limits.events) {
      this.#finish(failed({ code: 'limit', message: `the run has more than ${limits.events} events` }))
      return undefined
    }
    // The engine has recorded the answers that this run started with.
    if (event.kind === 'resumed' && this.#ledger.answered(event.interrupt)) return undefined
    return this.#writer.put(event, size)
  }

  #finishAsSaid(ending: RunFinished): void {
    this.#returned = true
    this.#finish(ending)
  }

  /** Returning means done, unless a person was asked: then the run waits for the answer. */
  #outcome(): RunFinished {
    return { kind: 'run.finished', outcome: this.#ledger.openInterrupts.length > 0 ? 'interrupted' : 'done' }
  }

  /** Keeps the lease. Lost, or not renewed for its whole time: another may write now, so we stop at once. */
  #heartbeat(): NodeJS.Timeout {
    const { log, limits, now } = this.#options
    let renewed = now()
    let renewing = false
    const beat = async (): Promise<void> => {
      const at = now()
      try {
        this.#lease = await log.renew(this.#lease, limits.leaseTtl)
        renewed = at
      } catch (error) {
        if (isLost(error) || now() - renewed >= limits.leaseTtl) await this.#writer.abandon()
      }
    }
    return setInterval(() => {
      if (renewing) return
      renewing = true
      void beat().finally(() => {
        renewing = false
      })
    }, limits.leaseTtl / 3)
  }
}
