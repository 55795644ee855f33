import { type HeldLease, type Lease, MillraceError, plainJson, type Recorded, type RunStarted } from '@millrace/core'
import type { Agent } from '../agent/agent.ts'
import { ActiveRun } from './active-run.ts'
import { closeRun, draftsOf } from './close.ts'
import { cancelled, failed, problemFromError } from './ending.ts'
import type { EngineParts } from './engine-parts.ts'
import { RunLedger } from './ledger.ts'
import { withoutRuns } from './rewind.ts'
import { recordingOf, sharedContext, sharedNews } from './shared-context.ts'
import { waitingOwner, waitingTtl } from './waiting-runs.ts'
import { isLost } from './writer.ts'

/** Lets a run whose start is in the log wait for a slot of any process. */
export function letWait({ log }: Pick<EngineParts, 'log'>, lease: Lease): Promise<Lease> {
  return log.takeOver(lease, waitingOwner, waitingTtl)
}

/** Takes a run that waits and starts its agent here, unless another process was faster. Never rejects. */
export async function takeWaiting(parts: EngineParts, waiting: HeldLease): Promise<void> {
  const { session, run } = waiting
  try {
    await parts.turns.take(session, () => begin(parts, waiting))
  } catch (error) {
    if (isLost(error)) return
    parts.audit({ action: 'run.unrecovered', session, run, problem: problemFromError(error, 'store-failed') })
  }
}

async function begin(parts: EngineParts, waiting: HeldLease): Promise<void> {
  const { log, owner, limits, runs } = parts
  const { session, run } = waiting
  if (parts.isClosing() || runs.of(session) !== undefined) return
  const lease = await log.takeOver(waiting, owner, limits.leaseTtl)
  try {
    await call(parts, lease)
  } catch (error) {
    if (isLost(error)) throw error
    // The agent was not called: the run waits again.
    if (runs.of(session)?.run !== run) await letWait(parts, lease)
    throw error
  }
}

async function call(parts: EngineParts, lease: Lease): Promise<void> {
  const { log, limits, seal, now, newId, histories, audit, launch } = parts
  const { session, run } = lease
  const info = await log.get(session)
  const seq = await log.startOf(session, run)
  const own = seq === undefined ? [] : (await log.read(session, { after: seq - 1 })).filter((row) => row.run === run)
  const started = own.find((row): row is Recorded & { readonly event: RunStarted } => row.event.kind === 'run.started')
  if (info === undefined || started === undefined || RunLedger.of(own, run).ending !== undefined) {
    await log.release(lease)
    return
  }
  const agent: Agent | undefined = parts.agents(started.event.agent)
  if (agent === undefined) {
    const message = `there is no agent ${started.event.agent} any more`
    await closeRun(log, lease, failed({ code: 'not-found', message }), started.seq - 1)
    await log.release(lease)
    return
  }
  const { state: before, replaced } = await log.facts(session)
  // Shared values may have changed while it waited.
  const news = sharedNews(await log.sharedState(info), before)
  const added = news === undefined ? [] : await log.append(session, draftsOf(run, [news]), lease)
  const state = plainJson(added.length === 0 ? before : (await log.facts(session)).state)
  launch(
    new ActiveRun({
      log,
      lease,
      agent,
      user: info.user,
      input: started.event.input,
      limits,
      seal,
      rows: [...own, ...added],
      history: async () => withoutRuns(await histories.upTo(info, started.seq - 1), replaced),
      context: { state, resumed: false, shared: sharedContext(log, info), ...recordingOf(parts, agent) },
      now,
      newId,
      cancelOnDisconnect: false,
    }),
  )
  audit({ action: 'run.start', session, user: info.user, agent: agent.name, run, seq: started.seq })
}

/** Ends the run of the session that waits, if it still does, because another one takes its place (SPEC 4.3). */
export async function supersedeWaiting(
  { log, owner, limits, audit }: EngineParts,
  session: string,
  next: string,
): Promise<void> {
  const waiting = (await log.heldBy(waitingOwner)).find((lease) => lease.session === session)
  if (waiting === undefined) return
  const { run, user } = waiting
  if (run === next) throw new MillraceError('conflict', `run ${run} exists already`, { session, run })
  const lease = await log.takeOver(waiting, owner, limits.leaseTtl)
  await closeRun(log, lease, cancelled(`superseded by run ${next}`))
  await log.release(lease)
  audit({ action: 'run.supersede', session, user, run })
}
