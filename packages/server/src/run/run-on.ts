import {
  type Draft,
  type EventLog,
  MillraceError,
  plainJson,
  type Recorded,
  type RunEvent,
  type RunStarted,
  type SessionInfo,
} from '@millrace/core'
import type { Agent } from '../agent/agent.ts'
import { ActiveRun } from './active-run.ts'
import { type ChangedStart, planChange, type ReusedRow } from './change-plan.ts'
import { describeAgent } from './describe-agent.ts'
import type { EngineParts } from './engine-parts.ts'
import { withoutRuns } from './rewind.ts'
import type { ChangeRequest, RunOnRequest, StartedRun, StartRequest } from './run-engine.ts'
import { acquireLease } from './session-lease.ts'
import { recordingOf, sharedContext } from './shared-context.ts'

/** Reads the run that is to be changed, and plans what is reused of it. */
export async function planFor(parts: EngineParts, { session, id, change, by }: ChangeRequest): Promise<ChangedStart> {
  const { log, seal } = parts
  const info = await log.get(session)
  const start = info === undefined ? undefined : await log.startOf(session, change.run)
  if (info === undefined || start === undefined)
    throw new MillraceError('not-found', `this session has no run ${change.run}`, { session, run: change.run })
  const rows = await rowsOfRun(log, session, change.run, start - 1)
  const name = rows[0]?.event.kind === 'run.started' ? rows[0].event.agent : info.agent
  const agent = parts.agents(name)
  if (agent === undefined)
    throw new MillraceError('conflict', `the server has no agent ${name}, so this run cannot go on here`)
  const about = await describeAgent(agent)
  if (about === undefined) throw new MillraceError('conflict', `the agent ${name} cannot run now: it does not load`)
  const place = { user: info.user, agent: name }
  return planChange(
    {
      session: id,
      rows,
      about,
      by,
      prompts: recordingOf(parts, agent).recording?.prompts === true,
      sealed: (kept) => seal?.newest(kept, place),
      hasRecord: (kept) => seal?.hasRecord(kept, name) === true,
      isRecord: (event) => seal?.isRecord(event) === true,
      isLeftOut: (event) => seal?.isLeftOut(event) === true,
    },
    change,
  )
}

/** A log reads the rest of the session for one brief page, so pages are large. */
const page = 20_000

/** The rows of one run, without tokens of messages that are there whole. What came after the run is not read. */
async function rowsOfRun(log: EventLog, session: string, run: string, before: number): Promise<readonly Recorded[]> {
  const rows: Recorded[] = []
  for (let after = before; ; ) {
    const read = await log.read(session, { after, limit: page, brief: true })
    const own = read.filter((row) => row.run === run)
    rows.push(...own)
    const last = read.at(-1)?.seq
    if (last === undefined || own.some(({ event }) => event.kind === 'run.finished')) return rows
    after = last
  }
}

/** Starts the run with its other message, or continues it from the rows that are reused. */
export async function runOn(
  parts: EngineParts,
  { session, user, start }: RunOnRequest,
  begin: (request: StartRequest) => Promise<StartedRun>,
): Promise<{ readonly run: string; readonly seq: number }> {
  const { agent: name, run, changed } = start
  if ('input' in start) {
    const { input, replaces } = start
    return begin({ session, user, agent: name, input, replaces, changed })
  }
  const agent = parts.agents(name)
  const info = await parts.log.get(session)
  if (agent === undefined || info?.user !== user)
    throw new MillraceError('not-found', `no session ${session}`, { session })
  return parts.turns.take(session, async () => {
    if (parts.isClosing()) throw new MillraceError('unavailable', 'the server is shutting down')
    const free = parts.runs.reserve(user, undefined)
    try {
      return await goOn(parts, agent, info, run, start.rows)
    } finally {
      free()
    }
  })
}

/**
 * The rows get into the log together, under the lease of the run: after a crash the run is recovered like any other. For
 * its agent it is a run that was interrupted after the last of them.
 */
async function goOn(
  parts: EngineParts,
  agent: Agent,
  info: SessionInfo,
  run: string,
  reused: readonly ReusedRow[],
): Promise<{ readonly run: string; readonly seq: number }> {
  const { log, limits, seal, now, newId, histories, launch, audit } = parts
  const { id: session, user } = info
  const lease = await acquireLease(parts, session, run)
  // The rows keep their distances and end now: a run that is changed a day later did not take a day.
  const later = Math.max(0, now() - Math.max(0, ...reused.flatMap(({ at }) => at ?? [])))
  try {
    const drafts = reused.map(({ at, event }): Draft => {
      const draft = { run, event: named(event, info) }
      return at === undefined ? draft : { ...draft, at: at + later }
    })
    const rows = await log.append(session, drafts, lease)
    const first = rows[0]
    const last = rows.at(-1)?.seq ?? 0
    if (first?.event.kind !== 'run.started') throw new MillraceError('invalid', 'a run begins with run.started')
    const { state, replaced } = await log.facts(session)
    const history = async () => [...withoutRuns(await histories.upTo(info, first.seq - 1), replaced), ...rows]
    launch(
      new ActiveRun({
        log,
        lease,
        agent,
        user,
        input: first.event.input,
        limits,
        seal,
        rows,
        history,
        context: {
          state: plainJson(state),
          resumed: true,
          shared: sharedContext(log, info),
          ...recordingOf(parts, agent),
        },
        now,
        newId,
        cancelOnDisconnect: false,
      }),
    )
    audit({ action: 'run.change', session, user, agent: agent.name, run, seq: last })
    return { run, seq: first.seq }
  } catch (error) {
    await log.release(lease).catch(() => {})
    throw error
  }
}

/** The first run of the new session names where it was taken from. */
function named(event: RunEvent, { forkOf }: SessionInfo): RunEvent {
  return event.kind === 'run.started' && forkOf !== undefined ? ({ ...event, forkOf } satisfies RunStarted) : event
}
