import { nodePath } from '../../event/node-path.ts'
import type { NodeId, Recorded } from '../../event/run-event.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import {
  type Cause,
  type Execution,
  type Phase,
  type Positions,
  type Timeline,
  timelineKey,
  trackOf,
  withExecution,
  withTimelineIndex,
} from './state.ts'

/** Called for what an event began and ended, in order: the flow view makes its edges from this. */
export interface Watcher {
  started(execution: Execution, line: Timeline): void
  finished(execution: Execution, line: Timeline): void
  lost(execution: Execution, line: Timeline): void
}

/** What is known of an execution at its start. */
export interface Begin extends Cause, Pick<Execution, 'node' | 'agent' | 'call' | 'inferred'> {}
export type End = Pick<Execution, 'status' | 'output' | 'endSeq' | 'endedAt' | 'error' | 'duration'>

const noPhase: Phase = { previous: [], current: undefined, running: 0 }

export function beginExecution(line: Timeline, row: Recorded, start: Begin, watcher?: Watcher): Timeline {
  const { run } = row
  const id = timelineKey(run, start.node)
  const position = line.executions.length
  const known = line.index.nodes.get(id)
  const made: Execution = {
    key: known === undefined ? `${run}/${start.node}` : `${run}/${start.node}~${row.seq}`,
    run,
    node: start.node,
    path: nodePath(start.node),
    agent: start.agent,
    parent: start.parent,
    after: start.after,
    via: start.via,
    call: start.call,
    status: 'running',
    error: undefined,
    startSeq: start.startSeq,
    startedAt: start.startedAt,
    endSeq: undefined,
    endedAt: undefined,
    duration: undefined,
    input: start.input,
    output: undefined,
    wrote: Sequence.empty,
    known: Dictionary.empty,
    inferred: start.inferred,
    superseded: undefined,
  }
  const track = trackOf(line, row)
  const group = timelineKey(run, start.parent ?? '')
  const phase = phaseAt(line, group)
  const next = withTimelineIndex(withExecution(line, position, made), {
    nodes: line.index.nodes.set(id, position),
    agents: line.index.agents.set(timelineKey(run, start.agent), position),
    phases: line.index.phases.set(group, {
      previous: phase.previous,
      current: { position, before: phase.current },
      running: phase.running + 1,
    }),
    runs: line.index.runs.set(run, { ...track, executions: { position, before: track.executions } }),
  })
  watcher?.started(made, next)
  return next
}

/**
 * The phase that a node starting now joins. While siblings run, theirs: it runs beside them. Else a new one, and they
 * are what came before. So a fan-out comes after what its first branch came after, and a fan-in after all branches.
 */
export function phaseAt(line: Timeline, group: string): Phase {
  const phase = line.index.phases.get(group) ?? noPhase
  if (phase.running > 0) return phase
  const nodes = executionsIn(line, phase.current).filter(({ superseded }) => superseded !== true)
  // If everything that ran last was superseded and runs again, it comes after the same nodes as the first time.
  if (nodes.length === 0) return { ...phase, current: undefined }
  return { previous: nodes.map(({ node }) => node), current: undefined, running: 0 }
}

/** In the order of their starts. */
export function executionsIn({ executions }: Timeline, positions: Positions | undefined): readonly Execution[] {
  const found: Execution[] = []
  for (let at = positions; at !== undefined; at = at.before) {
    const execution = executions.at(at.position)
    if (execution !== undefined) found.push(execution)
  }
  return found.reverse()
}

export function endExecution(line: Timeline, position: number, ending: End, watcher?: Watcher): Timeline {
  const before = line.executions.at(position)
  if (before === undefined || before.endSeq !== undefined) return line
  const done = ended(before, ending)
  const group = timelineKey(done.run, done.parent ?? '')
  const phase = line.index.phases.get(group) ?? noPhase
  let next = withTimelineIndex(withExecution(line, position, done), {
    phases: line.index.phases.set(group, { ...phase, running: Math.max(0, phase.running - 1) }),
  })
  // The keys that a child wrote also count for its parent: a later sibling of the parent finds them.
  const parent = done.parent === undefined ? undefined : next.index.nodes.get(timelineKey(done.run, done.parent))
  if (parent !== undefined && parent !== position) next = wrote(next, parent, done.wrote)
  watcher?.finished(done, next)
  return next
}

function ended(before: Execution, ending: End): Execution {
  const { endedAt: writtenAt = before.startedAt, duration = Math.max(0, writtenAt - before.startedAt) } = ending
  // Its end may have been written later than it happened.
  const endedAt = Math.min(writtenAt, before.startedAt + Math.max(0, duration))
  return {
    key: before.key,
    run: before.run,
    node: before.node,
    path: before.path,
    agent: before.agent,
    parent: before.parent,
    after: before.after,
    via: before.via,
    call: before.call,
    status: ending.status,
    error: ending.error,
    startSeq: before.startSeq,
    startedAt: before.startedAt,
    endSeq: ending.endSeq,
    endedAt,
    duration,
    input: before.input,
    output: ending.output,
    wrote: before.wrote,
    known: before.known,
    inferred: before.inferred,
    superseded: before.superseded,
  }
}

export function wrote(line: Timeline, position: number, keys: Iterable<string>): Timeline {
  const execution = line.executions.at(position)
  if (execution === undefined) return line
  let { wrote: list, known } = execution
  for (const key of keys) {
    if (known.get(key) === true) continue
    known = known.set(key, true)
    list = list.append(key)
  }
  if (list === execution.wrote) return line
  return withExecution(line, position, { ...execution, wrote: list, known })
}

/** The execution that a change belongs to: the node that the event names, or the running node of its author. */
export function ownerOf(line: Timeline, run: string, node: NodeId | undefined, author: string): number | undefined {
  const position =
    node === undefined ? line.index.agents.get(timelineKey(run, author)) : line.index.nodes.get(timelineKey(run, node))
  const execution = position === undefined ? undefined : line.executions.at(position)
  return execution?.endSeq === undefined ? position : undefined
}
