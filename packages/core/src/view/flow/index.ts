import { inferredPath } from '../../event/branch.ts'
import { nodePath } from '../../event/node-path.ts'
import type { Recorded } from '../../event/run-event.ts'
import { isPartial } from '../../event/streaming.ts'
import { changedKeys } from '../../json/changed-keys.ts'
import type { Sequence } from '../../persistent/sequence.ts'
import { track } from '../timeline/index.ts'
import { type Execution, executionOf, type Timeline, timelineKey } from '../timeline/state.ts'
import { executionsIn } from '../timeline/track.ts'
import type { View } from '../view.ts'
import { carried, END, type FlowEdge, type Graph, nodeIn, START, withEdge, withNode, withoutEdge } from './graph.ts'
import { emptyFlow, type Flow, type KeySet, noKeys } from './state.ts'

/**
 * The graph of nodes, the edges that runs took, and the state that travelled along each edge: the keys that the source, or
 * a node inside it, wrote and that existed when the target began. ADK Studio labels every outgoing edge of a node with all
 * of its keys, taken or not (docs/decisions/006-errata.md).
 */
export const flowView: View<Flow> = {
  name: 'flow',
  initial: emptyFlow,
  apply(state, row) {
    const { line, places, outside } = state.index
    const { event } = row
    if (event.kind === 'agent' && isPartial(event.event)) return noted(state, track(line, row))
    let graph: Graph = { nodes: state.nodes, edges: state.edges, places }
    const next = track(line, row, {
      started: (execution, now) => {
        graph = entered(graph, execution, now, outside)
      },
      finished: (execution, now) => {
        graph = left(graph, execution, now)
      },
      lost: (execution, now) => {
        graph = lost(graph, execution, now)
      },
    })
    if (next === line) return state
    if (event.kind === 'run.finished' && event.outcome === 'done') graph = ended(graph, row, next)
    const index = { ...state.index, line: next, places: graph.places, outside: brought(outside, row, line, next) }
    return { nodes: graph.nodes, edges: graph.edges, index }
  },
}

function noted(state: Flow, line: Timeline): Flow {
  return line === state.index.line ? state : { ...state, index: { ...state.index, line } }
}

/** The state keys that travelled along each edge that was taken, by edge id (docs/requirements.md, R0). */
export function stateKeys({ edges }: Pick<Flow, 'edges'>): Map<string, string[]> {
  const known = keysOf.get(edges)
  if (known !== undefined) return known
  const made = new Map<string, string[]>()
  for (const { id, count, keys } of edges) {
    if (count > 0 && keys.length > 0)
      made.set(
        id,
        keys.map(({ key }) => key),
      )
  }
  keysOf.set(edges, made)
  return made
}
const keysOf = new WeakMap<Sequence<FlowEdge>, Map<string, string[]>>()

/** The nodes to highlight: those that run and, in a log without nodes, agents whose first text is streaming. */
export function activeNodes({ nodes, index }: Flow): readonly string[] {
  const running = nodes.toArray().flatMap(({ id, running }) => (running > 0 ? [id] : []))
  const starting = index.line.starting.map(({ agent, branch }) => inferredPath(branch, agent))
  return [...new Set([...running, ...starting])]
}

function entered(graph: Graph, execution: Execution, line: Timeline, outside: KeySet): Graph {
  const { path, agent, parent, startSeq } = execution
  const within = parent === undefined ? {} : { parent: nodePath(parent) }
  let next = withNode(graph, path, agent, (node) => ({
    ...node,
    ...within,
    executions: node.executions + 1,
    running: node.running + 1,
    status: 'running',
    lastSeq: startSeq,
  }))
  for (const { from, kind, wrote } of waysIn(execution, line)) {
    if (from === START && nodeIn(next, START) === undefined) next = withNode(next, START, '', (node) => node)
    const keys = carried(wrote ?? outside.list, execution.input, startSeq)
    next = withEdge(next, { from, to: path, kind, keys, seq: startSeq })
  }
  return next
}

interface WayIn {
  readonly from: string
  readonly kind: Execution['via']
  readonly wrote?: Iterable<string>
}

/** Where control came from: the executions it came after, else the one it runs inside, else START. */
function waysIn({ run, after, via, parent }: Execution, line: Timeline): readonly WayIn[] {
  const before = after.flatMap((node) => executionOf(line, run, node) ?? [])
  if (before.length > 0) return before.map(({ path, wrote }) => ({ from: path, kind: via, wrote }))
  const caller = parent === undefined ? undefined : executionOf(line, run, parent)
  if (caller !== undefined) return [{ from: caller.path, kind: via, wrote: caller.wrote }]
  return [{ from: START, kind: 'start' }]
}

function left(graph: Graph, execution: Execution, line: Timeline): Graph {
  const { run, path, node, agent, status, endSeq = 0 } = execution
  let next = withNode(graph, path, agent, (each) => {
    const running = Math.max(0, each.running - 1)
    return { ...each, running, status: running > 0 ? 'running' : status, lastSeq: endSeq }
  })
  if (returnsAtOnce(execution)) next = returned(next, execution, line)
  const last = line.index.phases.get(timelineKey(run, node))?.current
  for (const child of executionsIn(line, last)) {
    if (child.via !== 'transfer' && !returnsAtOnce(child)) next = returned(next, child, line)
  }
  return next
}

function lost(graph: Graph, execution: Execution, line: Timeline): Graph {
  const { path, agent } = execution
  let next = withNode(graph, path, agent, (node) => ({ ...node, executions: Math.max(0, node.executions - 1) }))
  for (const { from } of waysIn(execution, line)) next = withoutEdge(next, from, path)
  return next
}

/** A called agent returns to its caller when it ends; the last step inside a workflow returns when the workflow ends. */
function returnsAtOnce({ via, call, inferred }: Execution): boolean {
  return via === 'delegate' && (call !== undefined || inferred === true)
}

function returned(graph: Graph, child: Execution, line: Timeline): Graph {
  const { run, parent, path, wrote, output = {}, status, superseded, endSeq = 0 } = child
  const caller = parent === undefined ? undefined : executionOf(line, run, parent)
  if (caller === undefined || caller.path === path || status !== 'ok' || superseded === true) return graph
  return withEdge(graph, {
    from: path,
    to: caller.path,
    kind: 'return',
    keys: carried(wrote, output, endSeq),
    seq: endSeq,
  })
}

/** A run that is done goes from its last steps to END. */
function ended(graph: Graph, { run, seq }: Recorded, line: Timeline): Graph {
  const last = executionsIn(line, line.index.phases.get(timelineKey(run, ''))?.current)
  const done = last.filter(({ status, superseded }) => status === 'ok' && superseded !== true)
  let next = done.length === 0 ? graph : withNode(graph, END, '', (node) => ({ ...node, lastSeq: seq }))
  for (const { path, wrote, output = {} } of done) {
    next = withEdge(next, { from: path, to: END, kind: 'end', keys: carried(wrote, output, seq), seq })
  }
  return next
}

function brought(outside: KeySet, { event }: Recorded, before: Timeline, after: Timeline): KeySet {
  if (event.kind === 'run.finished') return noKeys
  const unowned =
    event.kind === 'run.started' ||
    (event.kind === 'state' && event.node === undefined) ||
    (event.kind === 'agent' && event.event.author === 'user')
  if (!unowned || before.index.state === after.index.state) return outside
  let { list, known } = outside
  for (const key of changedKeys(before.index.state, after.index.state)) {
    if (known.get(key) === true) continue
    known = known.set(key, true)
    list = list.append(key)
  }
  return { list, known }
}
