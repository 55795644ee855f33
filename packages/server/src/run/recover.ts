import {
  type Lease,
  type Recorded,
  type RunStarted,
  type SessionInfo,
  type Superseded,
  sessionFacts,
} from '@millrace/core'
import type { Agent, AgentDescription } from '../agent/agent.ts'
import { ActiveRun, handedOver } from './active-run.ts'
import { closeRun } from './close.ts'
import { describeAgent } from './describe-agent.ts'
import { abandoned, problemFromError } from './ending.ts'
import type { EngineParts } from './engine-parts.ts'
import { RunLedger } from './ledger.ts'
import { lostBy } from './lost.ts'
import { inOwnOrder, maxLostRaces, recoveryOf } from './recovery.ts'
import { withoutRuns } from './rewind.ts'
import { recordingOf, sharedContext } from './shared-context.ts'
import { isLost } from './writer.ts'

/** A run whose process is gone, as the log has it. */
interface DeadRun {
  readonly lease: Lease
  readonly info: SessionInfo
  readonly started: Recorded & { readonly event: RunStarted }
  readonly rows: readonly Recorded[]
  readonly lost: Superseded
}

/** How long one round of recovery waits for an agent to load, and how long a run waits for its agent in all; in ms. */
const roundPatience = 5_000
const loadPatience = 600_000

/** The runs that wait for their agents to load, and since when. */
const waiting = new WeakMap<EngineParts, Map<string, number>>()

/** Ends every run whose process is gone, or resumes it where its agent can (SPEC 4.1, 4.6). */
export async function recoverRuns(parts: EngineParts): Promise<{ readonly failed: number; readonly resumed: number }> {
  const { log, owner, turns, audit } = parts
  const count = { failed: 0, resumed: 0 }
  let lost = 0
  for (const lease of inOwnOrder(await log.expired(owner), owner)) {
    if (parts.isClosing() || lost === maxLostRaces) break
    try {
      const what = await turns.take(lease.session, () => recoverRun(parts, lease))
      if (what !== 'nothing') count[what] += 1
    } catch (error) {
      // Another process was faster, or the session was removed. Any other error must not stop the remaining runs.
      if (isLost(error)) {
        lost += 1
        continue
      }
      const { session, run } = lease
      audit({ action: 'run.unrecovered', session, run, problem: problemFromError(error, 'store-failed') })
    }
  }
  return count
}

async function recoverRun(parts: EngineParts, dead: Lease): Promise<'failed' | 'resumed' | 'nothing'> {
  const { log, owner, limits, runs, audit } = parts
  const { session, run } = dead
  // The run is active in this process: only its heartbeat is late.
  if (runs.of(session)?.run === run) return 'nothing'
  const info = await log.get(session)
  if (info === undefined) return 'nothing'
  const lease = await log.takeOver(dead, owner, limits.leaseTtl)
  const rows = await log.read(session, { after: 0 })
  const ledger = RunLedger.of(rows, run)
  const started = rows.find((row): row is DeadRun['started'] => row.run === run && row.event.kind === 'run.started')
  if (started === undefined || recoveryOf({ isEnded: ledger.ending !== undefined }) === 'release') {
    await log.release(lease)
    return 'nothing'
  }
  const agent = parts.agents(started.event.agent)
  const mayResume = dead.owner === handedOver || ledger.resumes < limits.resumes
  const wasRunning = dead.owner !== '' && runs.of(session) === undefined && mayResume
  const about = wasRunning && agent !== undefined ? await describeAgent(agent, roundPatience) : undefined
  // On a busy machine many agents load at once after a crash. The lease keeps the run for the next round.
  if (waitsForAgent(parts, run, about)) return 'nothing'
  if (agent !== undefined && about !== undefined && recoveryOf({ isEnded: false, ...about }) === 'resume') {
    const sealed = parts.seal?.newest(rows, { user: info.user, agent: agent.name })
    const lost = lostBy(rows, run, about, sealed)
    await resume(parts, agent, { lease, info, started, rows, lost })
    return 'resumed'
  }
  await closeRun(log, lease, abandoned(info, started), started.seq - 1)
  await log.release(lease)
  audit({ action: 'run.crash', session, user: info.user, agent: started.event.agent, run })
  return 'failed'
}

function waitsForAgent(parts: EngineParts, run: string, about: AgentDescription | undefined): boolean {
  const since = waiting.get(parts) ?? new Map<string, number>()
  waiting.set(parts, since)
  const began = since.get(run) ?? parts.now()
  const waits = about?.engine === 'loading' && parts.now() - began < loadPatience
  if (waits) since.set(run, began)
  else since.delete(run)
  return waits
}

/** The unfinished step runs again: what it had streamed is superseded, and the agent sees which steps are done. */
async function resume(parts: EngineParts, agent: Agent, { lease, info, started, rows, lost }: DeadRun): Promise<void> {
  const { log, limits, seal, now, newId, audit, launch } = parts
  const { session, run } = lease
  const { user } = info
  const history = [...rows, ...(await log.append(session, [{ run, event: lost }], lease))]
  const shared = sharedContext(log, info)
  const { state, replaced } = sessionFacts(history)
  const context = { state, resumed: true, shared, ...recordingOf(parts, agent) }
  const { input } = started.event
  launch(
    new ActiveRun({
      log,
      lease,
      agent,
      user,
      input,
      limits,
      seal,
      rows: history,
      history: async () => withoutRuns(history, replaced),
      context,
      now,
      newId,
      cancelOnDisconnect: false,
    }),
  )
  audit({ action: 'run.resume', session, user, agent: agent.name, run, seq: history.at(-1)?.seq ?? 0 })
}
