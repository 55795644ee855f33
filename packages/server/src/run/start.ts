import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  applyState,
  defined,
  type JsonObject,
  MillraceError,
  noFacts,
  placeText,
  plainJson,
  pointerSegment,
  type Recorded,
  type RunEvent,
  type RunStarted,
  type SessionInfo,
} from '@millrace/core'
import type { Agent } from '../agent/agent.ts'
import { ActiveRun } from './active-run.ts'
import { answersOf, checkAnswered } from './answers.ts'
import { closeRun, draftsOf } from './close.ts'
import { describeAgent } from './describe-agent.ts'
import { abandoned } from './ending.ts'
import type { EngineParts } from './engine-parts.ts'
import { type LoadedSession, refreshSession } from './load-session.ts'
import { rewind, withoutRuns } from './rewind.ts'
import type { StartedRun, StartRequest } from './run-engine.ts'
import { acquireLease } from './session-lease.ts'
import { recordingOf, sharedContext, sharedEdit, sharedNews } from './shared-context.ts'
import { letWait, supersedeWaiting } from './take-waiting.ts'

/** A session of more rows than this takes a while to read, and its agent a while to begin. */
const long = 1000

/** What readers see of a run that waits. */
const isWaiting: RunEvent = { kind: 'log', level: 'info', message: 'the run waits for a free slot' }

type NamedRequest = StartRequest & { readonly run: string }

/** Ends the run it supersedes, takes the lease, commits `run.started` and starts the agent, or lets the run wait for a slot. One at a time per session. */
export async function startRun(parts: EngineParts, request: StartRequest): Promise<StartedRun> {
  const { log, agents, runs, waiting, audit, newId } = parts
  const { session, user, run = newId() } = request
  const agent = agents(request.agent)
  if (agent === undefined)
    throw new MillraceError('not-found', `unknown agent ${request.agent}`, { agent: request.agent })
  const info = request.loaded?.info ?? (await log.get(session))
  // A session of another user looks like one that does not exist (SPEC 6.2).
  if (info?.user !== user) throw new MillraceError('not-found', `no session ${session}`, { session })
  const current = runs.of(session)
  // The same request, sent twice: the run must not supersede itself.
  if (current?.run === run) throw new MillraceError('conflict', `run ${run} exists already`, { session, run })
  if (current?.phase === 'running' && runs.isRead(session)) {
    throw new MillraceError('busy', `session ${session} has an active run`, { session, run: current.run })
  }
  if (current === undefined && waiting.has(session) && !runs.isRead(session))
    await supersedeWaiting(parts, session, run)
  const unreserve = await waiting.slot(user, current)
  if (unreserve === undefined)
    return waiting.enter(session, user, () => open(parts, { ...request, run }, agent, info, true))
  try {
    if (current?.phase === 'running') {
      audit({ action: 'run.supersede', session, user, agent: current.agent, run: current.run })
      current.cancel(`superseded by run ${run}`)
    }
    await current?.whenReleased
    return await open(parts, { ...request, run }, agent, info, false)
  } finally {
    unreserve()
  }
}

/** Commits `run.started`; then the agent is called, or the run waits for a slot. */
async function open(
  parts: EngineParts,
  request: NamedRequest,
  agent: Agent,
  info: SessionInfo,
  waits: boolean,
): Promise<StartedRun> {
  const { log, limits, seal, now, newId, runs, histories, audit, launch } = parts
  const { session, user, run, input, cancelOnDisconnect = false } = request
  // A run that was left open is ended first. That takes a lease of its own, which would overtake a promised one.
  const lease = await acquireLease(parts, session, run, { withFirst: info.status !== 'running' })
  let isRecorded = false
  try {
    const before = await edited(parts, await past(parts, request.loaded ?? { info, facts: noFacts }), request)
    const { facts: all } = before
    if (all.seq > 0 && (await log.startOf(session, run)) !== undefined)
      throw new MillraceError('conflict', `run ${run} exists already`, { session, run })
    const { facts, replaces, undo } = await rewind(before, request, () => histories.upTo(before.info, all.seq))
    const answers = answersOf(input, facts, now())
    if (answers.length < facts.open.size && !(await takesOpenQuestions(agent))) checkAnswered(facts, answers)
    const started = { ...startOf(request, before), ...defined({ replaces, extra: request.extra }) }
    const changed = request.changed === undefined ? [] : [request.changed]
    const first = [started, ...changed, ...undo, ...answers, ...(waits ? [isWaiting] : [])]
    const opening = withNews(first, all.state, await log.sharedState(info))
    const rows = await log.append(session, draftsOf(run, opening), lease)
    isRecorded = true
    const state = stateAfter(all.state, opening)
    const shared = sharedContext(log, info)
    const seq = rows[0]?.seq ?? 0
    const earlier = async (): Promise<readonly Recorded[]> => {
      if (seq > long) await readersFirst()
      return histories.upTo(before.info, seq - 1)
    }
    const history = async (): Promise<readonly Recorded[]> => withoutRuns(await earlier(), facts.replaced)
    const context = { state, resumed: false, shared, ...recordingOf(parts, agent) }
    const active = { log, lease, agent, user, input, limits, seal, rows, history, context, now, newId }
    if (waits) await letWait(parts, lease)
    else launch(new ActiveRun({ ...active, cancelOnDisconnect }))
    audit({ action: waits ? 'run.wait' : 'run.start', session, user, agent: agent.name, run, seq })
    const leave = request.attach === true ? runs.attach(session) : () => {}
    return { run, seq, base: { rows, facts: all, earlier }, leave }
  } catch (error) {
    await log.release(lease).catch(() => {})
    throw !isRecorded && isTooLate(error) ? tooLate(session, run) : error
  }
}

/** On a very busy machine a start may take longer than its lease, which another process then takes to be one of a crash. */
const isTooLate = (error: unknown): boolean => error instanceof MillraceError && error.code === 'lease-lost'
const tooLate = (session: string, run: string): MillraceError =>
  new MillraceError(
    'unavailable',
    'the start took longer than its lease, and nothing of the run was recorded: send it again',
    {
      session,
      run,
    },
  )

/** The session as it is now. A run that a stopped process left open is ended first, so that runs never interleave. */
async function past({ log, owner, limits, audit }: EngineParts, known: LoadedSession): Promise<LoadedSession> {
  const loaded = await refreshSession(log, known)
  const { info, facts } = loaded
  if (facts.openRun === undefined) return loaded
  const { run, seq } = facts.openRun
  const lease = await log.takeOver({ session: info.id, run }, owner, limits.leaseTtl)
  await closeRun(log, lease, abandoned(info, facts.openRun), seq - 1)
  await log.release(lease)
  audit({ action: 'run.crash', session: info.id, user: info.user, run })
  return refreshSession(log, loaded)
}

/** The session after the shared values that the client sent, and the keys that it removed, were recorded. */
async function edited(
  { log }: EngineParts,
  loaded: LoadedSession,
  { input, removed = [] }: StartRequest,
): Promise<LoadedSession> {
  const { state } = loaded.facts
  const edits = [sharedEdit(input, state), removalOf(removed, state)].filter((edit) => edit !== undefined)
  if (edits.length === 0) return loaded
  await log.append(loaded.info.id, draftsOf('', edits))
  return refreshSession(log, loaded)
}

function removalOf(keys: readonly string[], state: JsonObject): RunEvent | undefined {
  const known = keys.filter((key) => Object.hasOwn(state, key))
  if (known.length === 0) return undefined
  return { kind: 'state', patch: known.map((key) => ({ op: 'remove', path: pointerSegment(key) })) }
}

/** The opening with the shared values that the session lacks, right after `run.started`. */
function withNews(opening: readonly RunEvent[], before: JsonObject, shared: JsonObject): readonly RunEvent[] {
  const [started, ...answers] = opening
  const news = started && sharedNews(shared, stateAfter(before, [started]))
  return started === undefined || news === undefined ? opening : [started, news, ...answers]
}

async function takesOpenQuestions(agent: Agent): Promise<boolean> {
  return (await describeAgent(agent))?.capabilities?.openQuestions === true
}

function startOf(request: NamedRequest, { info, facts }: LoadedSession): RunStarted {
  const { agent, input, parent } = request
  const { forkOf } = info
  // Only the first run of a fork names where it was forked.
  const isNamed = forkOf !== undefined && facts.forks.has(placeText(forkOf))
  return {
    kind: 'run.started',
    agent,
    input,
    ...defined({ forkOf: isNamed ? undefined : forkOf, parent }),
  }
}

function stateAfter(before: JsonObject, events: readonly RunEvent[]): JsonObject {
  let state = before
  for (const event of events) state = applyState(state, event)
  return plainJson(state) // agents may clone it
}

/** The start of the run is written to its readers at the end of this turn of the event loop; this waits for the next. */
async function readersFirst(): Promise<void> {
  await nextTurn()
  await nextTurn()
}
