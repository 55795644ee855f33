import {
  defined,
  type EventLog,
  type Lease,
  MillraceError,
  type Recorded,
  type RunFinished,
  type RunInput,
} from '@millrace/core'
import type { Agent, RunContext } from '../agent/agent.ts'
import type { ReadyIterator } from '../agent/lazy-stream.ts'
import type { RecordSeal } from '../agent/record-seal.ts'
import { cancelled, failed, problemFromError } from './ending.ts'
import { RunLedger } from './ledger.ts'
import type { RunLimits } from './limits.ts'
import { heartbeatEvery, isOverdue } from './recovery.ts'
import { nextPhase, type RunPhase, type RunStep } from './run-phase.ts'
import { validateEvent } from './validate-event.ts'
import { type FinishResult, isLost, RunWriter } from './writer.ts'

export interface ActiveRunOptions {
  readonly log: EventLog
  readonly lease: Lease
  readonly agent: Agent
  readonly user: string
  readonly input: RunInput
  readonly limits: RunLimits
  /** Without it, an agent gets no record that its engine kept for itself. */
  readonly seal?: RecordSeal | undefined
  /** The run's rows so far. */
  readonly rows: readonly Recorded[]
  /** Reads the rows that the agent is given. Called once the run has started, so that no reader waits for it. */
  readonly history: () => Promise<readonly Recorded[]>
  readonly context: Omit<
    RunContext,
    'rowsAfter' | 'sealed' | 'signal' | 'session' | 'run' | 'user' | 'now' | 'newId' | 'history' | 'recorded'
  >
  readonly now: () => number
  readonly newId: () => string
  readonly cancelOnDisconnect: boolean
}

/** After so many events, timers and sockets get a turn: an agent that never waits would starve them. */
const stretch = 128
/** `setTimeout` fires at once for anything longer. */
const longestTimer = 2 ** 31 - 1

/** What ended a run: its agent's return, an event of its agent (which may still clean up), or others, who abort the agent. */
type EndedBy = 'return' | 'event' | 'others'

/** How a run ends, or that another process continues it. */
type Decision = { readonly ending: RunFinished; readonly by: EndedBy } | 'hand-over'

/** The lease of a run that its process let go of is under this name, and has run out: the next process takes it at once. */
export const handedOver = 'millrace:handed-over'

/** After so many turns of the heartbeat without an answer, which are one term of the lease, another process may write. */
const mostSilent = 3

/**
 * A run of this process, from the call of its agent until its session is free again; `run-phase.ts` draws its phases.
 *
 *   start() ──▶ #pull: agent ─▶ validateEvent ─▶ RunWriter ─▶ log          (running)
 *   #finish, called first by the agent, a person, the clock, the store or the heartbeat
 *           ──▶ #end: abort the agent, write what is open and `run.finished`  (ending, then ended)
 *           ──▶ #release: wait for the agent, release the lease               (released)
 */
export class ActiveRun {
  readonly cancelOnDisconnect: boolean
  /** Resolves in phase `ended`: how it ended; `lost` when another process has the run now. */
  readonly whenEnded: Promise<FinishResult>
  /** Resolves in phase `released`: the session is free. */
  readonly whenReleased: Promise<void>
  readonly #options: ActiveRunOptions
  readonly #abort = new AbortController()
  readonly #ledger: RunLedger
  readonly #writer: RunWriter
  readonly #decided = deferred<Decision>()
  readonly #ended = deferred<FinishResult>()
  readonly #released = deferred<void>()
  #phase: RunPhase = 'ready'
  /** How many events the agent's stream has given, and what waits for more of them. */
  #taken = 0
  #waiting: (() => void)[] = []
  #lease: Lease

  constructor(options: ActiveRunOptions) {
    const { log, lease, limits, rows } = options
    this.#options = options
    this.cancelOnDisconnect = options.cancelOnDisconnect
    this.whenEnded = this.#ended.promise
    this.whenReleased = this.#released.promise
    this.#lease = lease
    this.#ledger = RunLedger.of(rows, lease.run)
    this.#writer = new RunWriter({
      log,
      lease,
      limits,
      ledger: this.#ledger,
      onBroken: (error) => this.#finish(failed(problemFromError(error, 'store-failed'))),
    })
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
  get phase(): RunPhase {
    return this.#phase
  }

  /** Calls the agent. Once only. */
  start(): void {
    this.#step('start')
    void this.#live(this.#heartbeat())
  }

  /** Ends it from outside. Without effect once its end is decided. */
  cancel(message: string): void {
    this.#finish(cancelled(message))
  }

  /** Stops the agent and leaves the run open, for another process to go on with. Without effect once its end is decided. */
  handOver(): void {
    this.#step('finish')
    this.#wake()
    this.#decided.resolve('hand-over')
  }

  #step(step: RunStep): void {
    this.#phase = nextPhase(this.#phase, step)
  }

  #finish(ending: RunFinished, by: EndedBy = 'others'): void {
    this.#step('finish')
    this.#wake()
    this.#decided.resolve({ ending, by })
  }

  async #live(stopBeating: () => void): Promise<void> {
    const pulled = this.#pull()
    const how = await this.#end()
    this.#step('settle')
    this.#ended.resolve(how)
    await this.#release(how, pulled, stopBeating)
    this.#step('release')
    this.#released.resolve()
  }

  async #end(): Promise<FinishResult> {
    const { timeout } = this.#options.limits
    const clock = setTimeout(
      () => this.#finish(failed({ code: 'timeout', message: `the run took longer than ${timeout} ms` })),
      Math.min(timeout, longestTimer),
    )
    const decision = await this.#decided.promise
    clearTimeout(clock)
    if (decision === 'hand-over') {
      this.#abort.abort(
        new MillraceError('unavailable', 'the server is shutting down; another one goes on with the run'),
      )
      return this.#writer.handOver()
    }
    const { ending, by } = decision
    const { code = 'cancelled', message = '' } = ending.error ?? {}
    if (by === 'others') this.#abort.abort(new MillraceError(code, message))
    return this.#writer.finish(ending, by === 'return')
  }

  async #release(how: FinishResult, pulled: Promise<void>, stopBeating: () => void): Promise<void> {
    const { log, limits } = this.#options
    let timer: NodeJS.Timeout | undefined
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limits.abortGrace)
    })
    await Promise.race([pulled, grace])
    clearTimeout(timer)
    stopBeating()
    // A lease that cannot be released runs out; recovery then finds that the run has its end.
    if (how === 'handed-over') await log.takeOver(this.#lease, handedOver, 0).catch(() => {})
    else if (how !== 'lost') await log.release(this.#lease).catch(() => {})
  }

  /** Takes what the agent yields while the run is running. Never rejects. */
  async #pull(): Promise<void> {
    let source: ReadyIterator<unknown> | undefined
    try {
      const history = await this.#options.history()
      if (this.#phase === 'running') source = this.#callAgent(history)
      for (let taken = 1; this.#phase === 'running' && source !== undefined; taken += 1) {
        const here = source.ready?.()
        const next = here === undefined ? await source.next() : { done: false, value: here }
        if (this.#phase !== 'running') break
        if (next.done === true) this.#finish(this.#outcome(), 'return')
        else {
          const room = this.#take(next.value, taken, source)
          if (room !== undefined) await room
        }
        this.#taken = taken
        if (this.#waiting.length > 0) this.#wake()
        if (taken % stretch === 0) await new Promise((resolve) => setImmediate(resolve))
      }
    } catch (error) {
      this.#finish(failed(problemFromError(error, 'agent-error')))
    }
    try {
      await source?.return?.()
    } catch {
      // The end is decided: an error in the agent's clean-up changes nothing.
    }
  }

  #callAgent(history: readonly Recorded[]): ReadyIterator<unknown> {
    const { agent, input, context, lease, log, seal, user, now, newId } = this.#options
    const { session, run } = lease
    const sealed = seal?.newest(history, { user, agent: agent.name })
    const events: Partial<AsyncIterable<unknown>> = agent.run(input, {
      ...context,
      history,
      ...defined({ sealed }),
      rowsAfter: (after) => log.read(session, { after }),
      session,
      run,
      user,
      now,
      newId,
      signal: this.#abort.signal,
      recorded: (count) => this.#recorded(count),
    })
    const source = events[Symbol.asyncIterator]?.()
    if (source === undefined)
      throw new MillraceError('garbage', '`run` of the agent returned no async iterable of events')
    return source
  }

  /** Resolves once the first `count` events of the agent's stream are durable, or the run is at its end. */
  async #recorded(count = this.#taken): Promise<void> {
    while (this.#phase === 'running' && this.#taken < count)
      await new Promise<void>((resume) => this.#waiting.push(resume))
    await this.#writer.flushed()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resume of waiting) resume()
  }

  #take(value: unknown, taken: number, source: ReadyIterator<unknown>): Promise<void> | undefined {
    const { limits } = this.#options
    const admitted = validateEvent(value, limits.eventSize)
    if ('problem' in admitted) {
      void this.#writer.put(admitted.kept, 0)
      this.#finish(failed(admitted.problem))
      return undefined
    }
    const { event, size } = admitted
    if (event.kind === 'run.finished') {
      this.#finish(event, source.over?.() === true ? 'return' : 'event')
      return undefined
    }
    if (taken > limits.events) {
      this.#finish(failed({ code: 'limit', message: `the run has more than ${limits.events} events` }))
      return undefined
    }
    // The engine recorded the answers that this run started with; the agent may yield them once more.
    if (event.kind === 'resumed' && this.#ledger.answered(event.interrupt)) return undefined
    const { agent, lease, seal, user } = this.#options
    const kept =
      event.kind === 'log' && seal !== undefined ? seal.seal(event, { user, agent: agent.name, run: lease.run }) : event
    return this.#writer.put(kept, size)
  }

  /** An agent that returns is done, unless it asked a person: then the run waits for the answer. */
  #outcome(): RunFinished {
    return { kind: 'run.finished', outcome: this.#ledger.openInterrupts.length > 0 ? 'interrupted' : 'done' }
  }

  /** Renews the lease. Once it is lost, or was not renewed for its whole term, another process may write: we stop. */
  #heartbeat(): () => void {
    const { log, limits, now } = this.#options
    let renewed = now()
    let renewing = false
    let silent = 0
    const beat = async (): Promise<void> => {
      const at = now()
      try {
        this.#lease = await log.renew(this.#lease, limits.leaseTtl)
        renewed = at
      } catch (error) {
        const mayWrite = this.#writer.isEnding || !isLost(error)
        if (!mayWrite || isOverdue(renewed, now(), limits.leaseTtl)) await this.#writer.abandon()
      }
    }
    const once = (): void => {
      if (renewing) return
      renewing = true
      silent = 0
      void beat().finally(() => {
        renewing = false
      })
    }
    const tick = (): void => {
      // A log that other processes share may be out of reach without an error.
      if (renewing && ++silent >= mostSilent && log.watch !== undefined) void this.#writer.abandon()
      once()
    }
    const timer = setInterval(tick, heartbeatEvery(limits.leaseTtl))
    // Where processes share a log, another one that writes here may have cancelled the run.
    const leave = log.watch?.(this.session, once)
    return () => {
      clearInterval(timer)
      leave?.()
    }
  }
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((resolver) => {
    resolve = resolver
  })
  return { promise, resolve }
}
