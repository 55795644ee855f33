import { MillraceError } from '@millrace/core'
import { ActiveRuns } from './active-runs.ts'
import { closeRun } from './close.ts'
import { describeAgent } from './describe-agent.ts'
import { cancelled, problemFromError } from './ending.ts'
import type { EngineParts, RunEngineOptions } from './engine-parts.ts'
import { SessionHistories } from './history.ts'
import { runLimits } from './limits.ts'
import { outcomeOf } from './outcome.ts'
import { recoverRuns } from './recover.ts'
import type { RunEngine, StartedRun, StartRequest } from './run-engine.ts'
import { planFor, runOn } from './run-on.ts'
import { SessionTurns } from './session-turns.ts'
import { startRun } from './start.ts'
import { takeWaiting } from './take-waiting.ts'
import { WaitingRuns } from './waiting-runs.ts'

const onRequest = 'cancelled on request'
/** How long the end of the server waits for the description of an agent, in ms. */
const describePatience = 1_000

/** The run engine over any log and any agents. */
export function runEngine(options: RunEngineOptions): RunEngine {
  let closing = false
  let recovering: ReturnType<RunEngine['recover']> | undefined
  const parts = engineParts(options, () => closing)
  const { log, runs, turns } = parts
  return {
    start: (request) => audited(parts, request),
    planChange: (request) => planFor(parts, request),
    runOn: (request) => runOn(parts, request, (start) => audited(parts, start)),
    cancel: async (session, run) => (await turns.take(session, () => cancel(parts, session, run)))(),
    async wait(session, run) {
      const active = runs.of(session)
      const outcome = active?.run === run ? await active.whenEnded : 'lost'
      return outcome === 'lost' || outcome === 'handed-over' ? outcomeOf(log, session, run) : outcome
    },
    history: (session) => parts.histories.upTo(session, session.lastSeq),
    attach: (session) => runs.attach(session),
    recover() {
      void parts.waiting.look()
      recovering ??= recoverRuns(parts).finally(() => {
        recovering = undefined
      })
      return recovering
    },
    async shutdown(grace) {
      closing = true
      await drain(parts, grace)
    },
    get active() {
      return runs.size
    },
  }
}

function engineParts(options: RunEngineOptions, isClosing: () => boolean): EngineParts {
  const limits = { ...runLimits, ...options.limits }
  const runs = new ActiveRuns(limits)
  const audit: EngineParts['audit'] = (entry) => {
    try {
      options.onAudit?.({ at: options.now(), ...entry })
    } catch {
      // A listener that fails must not stop a run.
    }
  }
  const waiting = new WaitingRuns({
    log: options.log,
    runs,
    limits,
    take: (lease) => takeWaiting(parts, lease),
    isClosing,
    failed: (error) => audit({ action: 'run.unrecovered', problem: problemFromError(error, 'store-failed') }),
  })
  const parts: EngineParts = {
    ...options,
    limits,
    runs,
    waiting,
    turns: new SessionTurns(),
    histories: new SessionHistories(options.log),
    audit,
    isClosing,
    launch(active) {
      runs.add(active)
      const { session, user, agent, run } = active
      void active.whenEnded.then((outcome) => {
        const about = { session, user, agent, run }
        if (outcome === 'lost') audit({ action: 'run.lost', ...about })
        else if (outcome === 'handed-over') audit({ action: 'run.hand-over', ...about })
        else audit({ action: 'run.finish', ...about, outcome })
      })
      void active.whenReleased.then(() => waiting.freed())
      active.start()
    },
  }
  return parts
}

async function audited(parts: EngineParts, request: StartRequest): Promise<StartedRun> {
  try {
    return await startPatiently(parts, request)
  } catch (error) {
    const { session, user, agent } = request
    parts.audit({ action: 'run.refuse', session, user, agent, problem: problemFromError(error, 'store-failed') })
    throw error
  }
}

/** Starts; waits for a reader that is about to leave, outside the session's turn, so that a cancel can get in. */
async function startPatiently(parts: EngineParts, request: StartRequest): Promise<StartedRun> {
  const { session, patience = 0 } = request
  const start = (): Promise<StartedRun> =>
    parts.turns.take(session, () => {
      if (parts.isClosing()) throw new MillraceError('unavailable', 'the server is shutting down')
      if (request.isGone?.() === true) throw new MillraceError('cancelled', 'the client left before the run began')
      return startRun(parts, request)
    })
  try {
    return await start()
  } catch (error) {
    const busy = error instanceof MillraceError && error.code === 'busy'
    if (!busy || patience <= 0 || !(await parts.runs.unread(session, patience))) throw error
  }
  return start()
}

/**
 * Cancels in the session's turn, so that a start under way is cancelled too. The result is awaited outside the turn.
 * A run of another process is taken over, which fences that process off, and ended here.
 */
async function cancel(
  parts: EngineParts,
  session: string,
  wanted: string | undefined,
): Promise<() => Promise<boolean>> {
  const { log, runs, owner, limits, audit } = parts
  const active = runs.of(session)
  if (active !== undefined) {
    const { phase } = active
    if (phase === 'ended' || phase === 'released' || (wanted !== undefined && wanted !== active.run))
      return async () => false
    if (phase === 'running')
      audit({ action: 'run.cancel', session, user: active.user, agent: active.agent, run: active.run })
    active.cancel(onRequest)
    return async () => (await active.whenEnded) === 'cancelled'
  }
  const info = await log.get(session)
  const run = info?.lastRun
  if (info?.status !== 'running' || run === undefined || (wanted !== undefined && wanted !== run))
    return async () => false
  const lease = await log.takeOver({ session, run }, owner, limits.leaseTtl)
  const wrote = (await closeRun(log, lease, cancelled(onRequest)))?.wrote === true
  await log.release(lease)
  if (wrote) audit({ action: 'run.cancel', session, user: info.user, run })
  return async () => wrote
}

/**
 * Hands over the runs that another process can go on with, waits `grace` ms for the others to finish, then cancels them.
 * Starts under way are waited for as well.
 */
async function drain(parts: EngineParts, grace: number): Promise<void> {
  const { runs, turns } = parts
  let isPatient = true
  const cancelAll = (): void => {
    isPatient = false
    for (const run of runs.all()) run.cancel('the server is shutting down')
  }
  const timer = setTimeout(cancelAll, grace)
  for (;;) {
    await turns.idle()
    if (runs.size === 0) break
    if (!isPatient) cancelAll()
    await handOverAll(parts)
    await Promise.all(runs.all().map((run) => run.whenReleased))
  }
  clearTimeout(timer)
}

async function handOverAll({ log, runs, agents }: EngineParts): Promise<void> {
  // Without other processes a run that is handed over would only wait for the next start.
  if (log.watch === undefined) return
  await Promise.all(
    runs.all().map(async (run) => {
      const agent = agents(run.agent)
      const about = agent === undefined ? undefined : await describeAgent(agent, describePatience)
      if (about?.resumable === true) run.handOver()
    }),
  )
}
