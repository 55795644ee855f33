import {
  applyState,
  type JsonObject,
  MillraceError,
  type Recorded,
  type RunEvent,
  type RunStarted,
  type SessionInfo,
} from '@millrace/core'
import type { Agent } from '../agent/agent.ts'
import { ActiveRun } from './active-run.ts'
import { closeRun, draftsOf } from './close.ts'
import { abandoned } from './ending.ts'
import type { EngineParts } from './engine-parts.ts'
import type { StartedRun, StartRequest } from './run-engine.ts'
import { answersOf, placeOf, type SessionFacts, sessionFacts } from './session-facts.ts'

type NamedRequest = StartRequest & { readonly run: string }

/** Makes room, takes the lease, commits `run.started` and sets the agent going. One at a time per session. */
export async function startRun(parts: EngineParts, request: StartRequest): Promise<StartedRun> {
  const { log, agents, runs, audit, newId } = parts
  const { session, user, run = newId() } = request
  const agent = agents(request.agent)
  if (agent === undefined) throw new MillraceError('not-found', `no agent ${request.agent}`, { agent: request.agent })
  const info = await log.get(session)
  // Another's session looks like none at all (DESIGN 4.10).
  if (info?.user !== user) throw new MillraceError('not-found', `no session ${session}`, { session })
  const current = runs.of(session)
  // The same start, asked again: it must not supersede itself.
  if (current?.run === run) throw new MillraceError('conflict', `run ${run} exists`, { session, run })
  if (current !== undefined && !current.over && runs.isRead(session)) {
    throw new MillraceError('busy', `session ${session} has an active run`, { session, run: current.run })
  }
  const unreserve = runs.reserve(user, current)
  try {
    if (current !== undefined && !current.over) {
      audit({ action: 'run.supersede', session, user, agent: current.agent, run: current.run })
      current.cancel(`superseded by run ${run}`)
    }
    await current?.freed
    return await open(parts, { ...request, run }, agent, info)
  } finally {
    unreserve()
  }
}

async function open(parts: EngineParts, request: NamedRequest, agent: Agent, info: SessionInfo): Promise<StartedRun> {
  const { log, limits, owner, now, newId, runs, audit, hold } = parts
  const { session, user, run, input, cancelOnDisconnect = false } = request
  const lease = await log.acquire(session, run, owner, limits.leaseTtl)
  try {
    const { history, facts } = await past(parts, info)
    if (facts.runs.has(run)) throw new MillraceError('conflict', `run ${run} exists`, { session, run })
    const opening = openingOf(request, info, facts, now())
    const rows = await log.append(session, draftsOf(run, opening), lease)
    const context = { history, state: stateAfter(facts.state, opening), resumed: false }
    hold(new ActiveRun({ log, lease, agent, user, input, limits, rows, context, now, newId, cancelOnDisconnect }))
    const seq = rows[0]?.seq ?? 0
    audit({ action: 'run.start', session, user, agent: agent.name, run, seq })
    return { run, seq, leave: request.attach === true ? runs.attach(session) : () => {} }
  } catch (error) {
    await log.release(lease).catch(() => {})
    throw error
  }
}

/** The session's rows. A run that its process left open is ended first, so that runs never interleave. */
async function past(
  { log, owner, limits, audit }: EngineParts,
  info: SessionInfo,
): Promise<{ readonly history: readonly Recorded[]; readonly facts: SessionFacts }> {
  const session = info.id
  const history = await log.read(session, { after: 0 })
  const facts = sessionFacts(history)
  const { openRun } = facts
  if (openRun === undefined) return { history, facts }
  const lease = await log.takeOver({ session, run: openRun.run }, owner, limits.leaseTtl)
  await closeRun(log, lease, abandoned(info, openRun))
  await log.release(lease)
  audit({ action: 'run.crash', session, user: info.user, run: openRun.run })
  const whole = await log.read(session, { after: 0 })
  return { history: whole, facts: sessionFacts(whole) }
}

function openingOf(request: NamedRequest, info: SessionInfo, facts: SessionFacts, now: number): readonly RunEvent[] {
  const { agent, input, parent } = request
  const { forkOf } = info
  const started: RunStarted = {
    kind: 'run.started',
    agent,
    input,
    ...(forkOf === undefined || facts.forks.has(placeOf(forkOf)) ? {} : { forkOf }),
    ...(parent === undefined ? {} : { parent }),
  }
  return [started, ...answersOf(input, facts, now)]
}

function stateAfter(before: JsonObject, events: readonly RunEvent[]): JsonObject {
  let state = before
  for (const event of events) state = applyState(state, event)
  return state
}
