import { transferOf } from '../../event/adk-rules.ts'
import { branchOf } from '../../event/branch.ts'
import type { Problem } from '../../event/problem.ts'
import { replacedRows } from '../../event/replaced-runs.ts'
import type {
  AgentSaid,
  NodeFinished,
  NodeStarted,
  Outcome,
  Recorded,
  RunFinished,
  RunStarted,
  Superseded,
} from '../../event/run-event.ts'
import { applyState } from '../../event/state-fold.ts'
import { hasText, isPartial } from '../../event/streaming.ts'
import { changedKeys } from '../../json/changed-keys.ts'
import type { JsonObject } from '../../json/json.ts'
import type { View } from '../view.ts'
import { infer, leave } from './infer.ts'
import { hasNode, trackSpecialists, unanswered } from './specialist.ts'
import {
  type Cause,
  type Execution,
  emptyTimeline,
  type SpeakingAgent,
  type Timeline,
  timelineKey,
  trackOf,
  withExecution,
  withTimelineIndex,
} from './state.ts'
import { beginExecution, type End, endExecution, ownerOf, phaseAt, type Watcher, wrote } from './track.ts'

/** Bounds the list of agents whose first text is streaming. */
const mostStarting = 64

/** Node executions: when each ran, inside and after which others, with the state before and after it. */
export const timelineView: View<Timeline> = {
  name: 'timeline',
  initial: emptyTimeline,
  apply: (line, row) => track(line, row),
}

/** One step of the timeline. It calls `watcher` for each execution that began, ended or was superseded. */
export function track(line: Timeline, row: Recorded, watcher?: Watcher): Timeline {
  const { event } = row
  switch (event.kind) {
    case 'agent':
      return isPartial(event.event) ? stirred(line, row, event) : spoke(line, row, event, watcher)
    case 'run.started':
      return runStarted(line, row, event, watcher)
    case 'run.finished':
      return runFinished(line, row, event, watcher)
    case 'node.started':
      return nodeStarted(line, row, event, watcher)
    case 'node.finished':
      return nodeFinished(line, row, event, watcher)
    case 'superseded':
      return superseded(line, row, event, watcher)
    case 'interrupt':
      return event.node === undefined ? line : waits(line, row.run, event.node)
    case 'state': {
      const { state, keys } = changed(line, row)
      if (keys.length === 0) return line
      // The node may have ended: a graph applies what the nodes of one step wrote when the last of them has ended.
      const owner = event.node === undefined ? undefined : line.index.nodes.get(timelineKey(row.run, event.node))
      const next = withTimelineIndex(line, { state })
      return owner === undefined ? next : wrote(next, owner, keys)
    }
    default:
      return line
  }
}

function changed({ index }: Timeline, { event }: Recorded): { state: JsonObject; keys: readonly string[] } {
  const state = applyState(index.state, event)
  return { state, keys: state === index.state ? [] : changedKeys(index.state, state) }
}

/** Executions come from whole events, but a page shows already which agent is about to speak. */
function stirred(line: Timeline, row: Recorded, { event, node }: AgentSaid): Timeline {
  if (node !== undefined || event.author === 'user') return line
  const { run } = row
  const track = trackOf(line, row)
  const branch = branchOf(event)
  const is = (agent: string, on: string): boolean => agent === event.author && on === branch
  if (track.named || track.ended || track.speakers.some((each) => !each.over && is(each.author, each.branch)))
    return line
  if (line.starting.some((each) => each.run === run && is(each.agent, each.branch))) return line
  if (!hasText(event)) return line
  return { ...line, starting: [...line.starting.slice(1 - mostStarting), { run, agent: event.author, branch }] }
}

function spoke(line: Timeline, row: Recorded, said: AgentSaid, watcher?: Watcher): Timeline {
  const { event, node } = said
  const { state, keys } = changed(line, row)
  const next = keys.length === 0 ? line : withTimelineIndex(line, { state })
  const track = trackOf(next, row)
  if (event.author === 'user' || track.ended) return next
  const known = node !== undefined && next.index.nodes.get(timelineKey(row.run, node)) !== undefined
  const moved = !known && !track.named ? infer(next, row, event, keys, watcher) : spokeInNode(next, row, said, keys)
  return trackSpecialists(moved, row, said, keys, watcher)
}

function spokeInNode(next: Timeline, row: Recorded, { event, node }: AgentSaid, keys: readonly string[]): Timeline {
  const to = transferOf(event)
  if (to === undefined && keys.length === 0) return next
  const owner = ownerOf(next, row.run, node, event.author)
  const id = owner === undefined ? undefined : next.executions.at(owner)?.node
  if (owner === undefined || id === undefined) return next
  const written = wrote(next, owner, keys)
  return to === undefined
    ? written
    : withTimelineIndex(written, { transfers: written.index.transfers.set(timelineKey(row.run, id), to) })
}

function runStarted(before: Timeline, row: Recorded, event: RunStarted, watcher?: Watcher): Timeline {
  let line = before
  for (const lost of replacedRows(row, event)) line = superseded(line, lost, lost.event, watcher)
  const { state } = changed(line, row)
  const continues = line.index.waiting || undefined
  const started = { startSeq: row.seq, startedAt: row.at, startState: state, ended: false }
  const track = { ...trackOf(line, row), ...started, continues }
  return withTimelineIndex(line, { state, runs: line.index.runs.set(row.run, track) })
}

function nodeStarted(line: Timeline, row: Recorded, event: NodeStarted, watcher?: Watcher): Timeline {
  const { run, seq, at } = row
  const { node, agent, parent, call } = event
  const again = line.index.nodes.get(timelineKey(run, node))
  const before = hasNode(line, row, call)
  const ready = again === undefined ? before : endExecution(before, again, endsAt(line, row, 'interrupted'), watcher)
  const track = trackOf(ready, row)
  const named = track.named
    ? ready
    : withTimelineIndex(ready, { runs: ready.index.runs.set(run, { ...track, named: true }) })
  const { via, after } = led(named, run, event)
  const input = named.index.state
  const caller = parent === node ? undefined : parent
  return beginExecution(
    named,
    row,
    { node, agent, parent: caller, call, via, after, startSeq: seq, startedAt: at, input },
    watcher,
  )
}

/** How control came to a node: as the engine recorded it, else by the call it answers, a transfer, or its earlier siblings. */
function led(
  line: Timeline,
  run: string,
  { agent, parent, after, call, node }: NodeStarted,
): Pick<Cause, 'via' | 'after'> {
  const given = Array.isArray(after) ? after.filter((each) => each !== node) : undefined
  const { transfers } = line.index
  const handed = parent !== undefined && transfers.get(timelineKey(run, parent)) === agent
  const before = given ?? (call !== undefined || handed ? [] : phaseAt(line, timelineKey(run, parent ?? '')).previous)
  const [only, ...more] = before
  if (only !== undefined) {
    const hop = more.length === 0 && transfers.get(timelineKey(run, only)) === agent
    return { via: hop ? 'transfer' : 'sequence', after: before }
  }
  if (handed) return { via: 'transfer', after: [] }
  return { via: parent === undefined ? 'start' : 'delegate', after: [] }
}

function nodeFinished(line: Timeline, row: Recorded, event: NodeFinished, watcher?: Watcher): Timeline {
  const position = line.index.nodes.get(timelineKey(row.run, event.node))
  if (position === undefined) return line
  const { status, error, duration } = event
  return endExecution(line, position, endsAt(line, row, status, error, duration), watcher)
}

function waits(line: Timeline, run: string, node: string): Timeline {
  const position = line.index.nodes.get(timelineKey(run, node))
  const execution = position === undefined ? undefined : line.executions.at(position)
  if (position === undefined || execution?.status !== 'running') return line
  return withExecution(line, position, { ...execution, status: 'interrupted' })
}

function superseded(line: Timeline, row: Recorded, { nodes }: Superseded, watcher?: Watcher): Timeline {
  let next = line
  for (const node of nodes) {
    const position = next.index.nodes.get(timelineKey(row.run, node))
    if (position === undefined) continue
    next = endExecution(next, position, endsAt(next, row, 'interrupted'), watcher)
    const execution = next.executions.at(position)
    if (execution === undefined || execution.superseded === true) continue
    const lost: Execution = { ...execution, superseded: true }
    next = withExecution(next, position, lost)
    watcher?.lost(lost, next)
  }
  const { asked } = trackOf(next, row)
  const kept = asked.filter(({ caller }) => !nodes.includes(caller.node))
  return kept.length === asked.length
    ? next
    : withTimelineIndex(next, { runs: next.index.runs.set(row.run, { ...trackOf(next, row), asked: kept }) })
}

/** Executions that still run end with their run. */
function runFinished(line: Timeline, row: Recorded, { outcome, error }: RunFinished, watcher?: Watcher): Timeline {
  const { run } = row
  const track = trackOf(line, row)
  if (track.ended) return line
  const how = outcome === 'done' ? { status: 'ok' as const } : { status: cutBy(outcome, error), error }
  const newest = track.speakers.reduce((latest, { seq }) => Math.max(latest, seq), 0)
  const cut = ({ seq, waiting, error: own }: SpeakingAgent): Partial<End> =>
    outcome !== 'done' && own === undefined && (seq === newest || waiting > 0) ? how : {}
  const broke = outcome === 'failed' || outcome === 'cancelled'
  let next = leave(broke ? unanswered(line, row, watcher) : line, row, track.speakers, watcher, cut)
  for (let at = track.executions; at !== undefined; at = at.before) {
    next = endExecution(next, at.position, endsAt(next, row, how.status, how.error), watcher)
  }
  const starting = next.starting.filter((each) => each.run !== run)
  return withTimelineIndex(starting.length === next.starting.length ? next : { ...next, starting }, {
    waiting: outcome === 'interrupted' ? run : '',
    runs: next.index.runs.set(run, { ...track, ended: true, speakers: [], asked: [], executions: undefined }),
  })
}

/** A recording that was cut off does not say that anything failed. */
function cutBy(outcome: Exclude<Outcome, 'done'>, error: Problem | undefined): Execution['status'] {
  return outcome === 'failed' && error?.code !== 'cut' ? 'error' : 'interrupted'
}

function endsAt(
  { index }: Timeline,
  { seq, at }: Recorded,
  status: Execution['status'],
  error?: Problem,
  duration?: number,
): End {
  return { status, error, duration, endSeq: seq, endedAt: at, output: index.state }
}
