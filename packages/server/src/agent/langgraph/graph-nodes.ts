import type { NodeFinished, NodeId, RunEvent } from '@millrace/core'
import type { AgentGraph } from '../agent.ts'
import type { LogProgress } from './checkpoint.ts'
import type { EarlierNodes } from './earlier-nodes.ts'
import type { StreamEvent } from './langgraph-agent.ts'
import type { RunChain } from './run-chain.ts'

/** How LangGraph names the node of an error handler: this, then the name of the node that it belongs to. */
const errorHandler = '__error_handler__'

/** A node that runs, as the log names it. */
export interface GraphNode {
  readonly node: NodeId
  readonly name: string
  readonly path: string
  readonly parent?: GraphNode
  readonly step: number
  /** LangGraph's name for the task: a retry has the same one. */
  readonly task: unknown
}

/** Which nodes of the graph run, inside which other node, and after which ones. */
export class GraphNodes {
  readonly #graph: AgentGraph
  /** How often each path has started, in this run and in those it continues. */
  readonly #executions: Map<string, number>
  readonly #open = new Map<string, GraphNode>()
  readonly #now: () => number
  readonly #startedAt = new Map<NodeId, number>()
  readonly #finished: GraphNode[] = []
  #isLeaving = false
  readonly #earlier: EarlierNodes
  /** The step of phase 0 of the earlier nodes inside each node: known once a first node goes on there. */
  readonly #steps = new Map<NodeId, number>()

  /** The step in which LangGraph carries out the first nodes of this run. */
  readonly #first: number

  constructor(graph: AgentGraph, chain: Pick<RunChain, 'executions' | 'nodes'>, now: () => number, first = 1) {
    this.#graph = graph
    this.#now = now
    this.#first = first
    this.#executions = new Map(chain.executions)
    this.#earlier = chain.nodes
  }

  /** Whether a node of the outermost graph that LangGraph reports as cached was done before a crash or a question. */
  isDone(name: string): boolean {
    const nodes = this.#earlier.inside(undefined)
    const last = Math.max(0, ...nodes.map(({ phase }) => phase))
    return nodes.some(({ path, phase, status }) => path === name && phase === last && status === 'ok')
  }

  /** The start of a node that LangGraph does not report, because it took its answer from a cache. */
  unseen(run: string, name: string): StreamEvent {
    const step = Math.max(this.#first - 1, ...this.#finished.map((done) => done.step)) + 1
    return { event: 'on_chain_start', name, run_id: run, metadata: { langgraph_step: step } }
  }

  has(run: string): boolean {
    return this.#open.has(run)
  }

  /** How far the events are that were mapped. */
  progress({ cache }: { readonly cache?: unknown }): LogProgress {
    const ended = cache === undefined ? undefined : this.#finished.filter(({ task }) => task !== undefined)
    const open = new Set(this.#open.values())
    const runs = (node: GraphNode | undefined): boolean => node !== undefined && (open.has(node) || runs(node.parent))
    return { open: [...open], ended, inner: this.#finished.filter(({ parent }) => runs(parent)) }
  }

  *start(event: StreamEvent): Generator<RunEvent> {
    const { name } = event
    const task = taskOf(event)
    yield* this.#retry(name, task)
    const step = Number(event.metadata?.langgraph_step ?? 0)
    const failed = this.#handled(name, task)
    if (failed !== undefined) yield* this.#endWith(failed, `'${failed.name}' failed and its error handler runs`)
    const parent = this.#around(task)
    const path = parent === undefined ? name : `${parent.path}/${name}`
    const count = (this.#executions.get(path) ?? 0) + 1
    this.#executions.set(path, count)
    const node: GraphNode = { node: `${path}@${count}`, name, path, step, task, ...(parent ? { parent } : {}) }
    this.#open.set(event.run_id, node)
    this.#startedAt.set(node.node, this.#now())
    const goesOn = this.#earlier.inside(parent?.node).length > 0
    const after = failed === undefined ? this.#before(node, event) : [failed.node]
    yield {
      kind: 'node.started',
      node: node.node,
      agent: name,
      ...(parent === undefined ? {} : { parent: parent.node }),
      ...(after.length > 0 || goesOn ? { after } : {}),
    }
  }

  end(run: string): GraphNode | undefined {
    const node = this.#open.get(run)
    if (node === undefined) return undefined
    this.#open.delete(run)
    this.#finished.push(node)
    return node
  }

  /**
   * The event of a node's end. It has the time that the node took: the rows of nodes that run side by side may be written
   * together, so the log's own times do not tell them apart.
   */
  finished(node: NodeId, how: Pick<NodeFinished, 'status' | 'error'>): NodeFinished {
    const now = this.#now()
    const duration = Math.max(0, now - (this.#startedAt.get(node) ?? now))
    this.#startedAt.delete(node)
    return { kind: 'node.finished', node, ...how, duration }
  }

  /**
   * The nodes that left their graph for the one around it (`Command.PARENT`): they have no end among the events. One is
   * over when the graph around it starts a later step, or ends; `event` is that start or end, none that of the run.
   */
  left(hasLeft: (run: string) => boolean, event?: StreamEvent): readonly (readonly [string, GraphNode])[] {
    const isStart = event?.event === 'on_chain_start'
    const parent = isStart ? this.#around(taskOf(event)) : this.#open.get(event?.run_id ?? '')
    const before = isStart ? Number(event.metadata?.langgraph_step ?? 0) : Number.POSITIVE_INFINITY
    const handled = isStart ? this.#handled(event.name, taskOf(event)) : undefined
    return [...this.#open].filter(([run, node]) => {
      if (node.parent !== parent || node === handled || node.step >= before) return false
      // Graphs beside each other in one node have steps of their own; the outermost graph is always one.
      return hasLeft(run) || (isStart && parent === undefined)
    })
  }

  /** Ends a node that left its graph and those inside it, inner ones first: each is open until its end is in the log. */
  *endAll(outer: GraphNode): Generator<RunEvent> {
    for (const [run, open] of this.#inside(outer).reverse()) {
      this.#isLeaving = open !== outer
      this.#open.delete(run)
      this.#finished.push(open)
      yield this.finished(open.node, { status: 'ok' })
    }
  }

  /** Whether a node has ended that left its graph, and the one around it has not: no checkpoint of LangGraph is between them. */
  get isLeaving(): boolean {
    return this.#isLeaving
  }

  *fail(message: string): Generator<RunEvent> {
    for (const { node } of [...this.#open.values()].reverse()) {
      yield this.finished(node, { status: 'error', error: { code: 'agent-error', message } })
    }
    this.#open.clear()
  }

  /** The node that asks: the innermost one that is open inside this task of the outermost graph. */
  asking(task: string): NodeId | undefined {
    const inside = (each: GraphNode): boolean => each.task === task || isInside(each.task, task)
    return [...this.#open.values()].findLast(inside)?.node
  }

  /** Nodes that are open when the graph stops for a person wait with it. Inner nodes end first. */
  *wait(): Generator<RunEvent> {
    for (const { node } of [...this.#open.values()].reverse()) {
      yield this.finished(node, { status: 'interrupted' })
    }
    this.#open.clear()
  }

  /** Events of a model or tool belong to the open node above them, else to the node their metadata names. */
  of({ parent_ids = [], metadata }: StreamEvent): GraphNode {
    const parent = parent_ids.findLast((id) => this.#open.has(id))
    const open = parent === undefined ? undefined : this.#open.get(parent)
    const task = metadata?.langgraph_checkpoint_ns ?? metadata?.checkpoint_ns
    const name = String(metadata?.langgraph_node ?? 'graph')
    const nodes = [...this.#open.values()]
    return (
      open ??
      nodes.findLast((node) => task !== undefined && node.task === task && node.name === name) ??
      nodes.findLast((node) => node.name === name) ?? { node: '', name, path: name, step: 0, task: undefined }
    )
  }

  /** The open node whose inner graph this task is part of. */
  #around(task: unknown): GraphNode | undefined {
    if (typeof task !== 'string') return undefined
    const above = [...this.#open.values()].filter((each) => isInside(task, each.task))
    return above.sort((a, b) => String(b.task).length - String(a.task).length)[0]
  }

  /** LangGraph retries a node without reporting that the attempt before failed. */
  *#retry(name: string, task: unknown): Generator<RunEvent> {
    if (task === undefined) return
    const again = [...this.#open.values()].find((open) => open.name === name && open.task === task)
    if (again !== undefined) yield* this.#endWith(again, `'${name}' failed and is tried again`)
  }

  /** The node whose error handler this is. LangGraph runs the handler as a task of the failed one. */
  #handled(name: string, task: unknown): GraphNode | undefined {
    if (!name.startsWith(errorHandler) || typeof task !== 'string') return undefined
    const of = task.slice(0, task.lastIndexOf('|'))
    return [...this.#open.values()].find((open) => open.task === of)
  }

  *#endWith(failed: GraphNode, message: string): Generator<RunEvent> {
    const error = { code: 'agent-error' as const, message }
    for (const open of this.#takeOut(failed)) {
      yield this.finished(open.node, { status: 'error', error })
    }
  }

  /** Removes a node and the nodes inside it; inner ones come first. */
  #takeOut(outer: GraphNode): readonly GraphNode[] {
    const inside = this.#inside(outer)
    for (const [run] of inside) this.#open.delete(run)
    return inside.map(([, open]) => open).reverse()
  }

  #inside(outer: GraphNode): [string, GraphNode][] {
    return [...this.#open].filter(([, open]) => open === outer || isInside(open.task, outer.task))
  }

  /** The nodes whose end led to this one: the sources of its join, else those of the step before that have an edge to it. */
  #before({ node, path, parent, step }: GraphNode, event: StreamEvent): readonly NodeId[] {
    const again = this.#earlier.again(node, parent?.node)
    const doneBefore = this.#doneBefore(parent, again === undefined ? undefined : step - again.phase, step)
    if (again !== undefined) return again.after
    const own = this.#finished.filter((done) => done.parent?.node === parent?.node)
    const beside = [...doneBefore, ...own].filter((done) => done.step < step)
    const joined = joinedNames(event)
    if (joined.length > 0) return joined.flatMap((name) => beside.findLast((done) => done.name === name)?.node ?? [])
    const sources = new Set(this.#graph.edges.filter((edge) => edge.to === path).map((edge) => edge.from))
    const linked = beside.filter((done) => sources.has(done.path))
    // A `Command` may go where no edge is drawn.
    const earlier = linked.some((done) => done.step === step - 1)
      ? linked
      : beside.some((done) => done.step === step - 1)
        ? beside
        : linked
    const latest = Math.max(...earlier.map((done) => done.step))
    return earlier.filter((done) => done.step === latest).map((done) => done.node)
  }

  /** What was done before this run inside a node, with its steps. The last phase is the step before, unless `first` says more. */
  #doneBefore(parent: GraphNode | undefined, first: number | undefined, step: number): readonly DoneNode[] {
    const nodes = this.#earlier.inside(parent?.node)
    const level = parent?.node ?? ''
    const start = this.#steps.get(level) ?? first ?? step - 1 - Math.max(0, ...nodes.map(({ phase }) => phase))
    this.#steps.set(level, start)
    return nodes
      .filter(({ status }) => status === 'ok')
      .map(({ node, path, phase }) => ({
        node,
        path,
        name: path.slice(path.lastIndexOf('/') + 1),
        step: start + phase,
      }))
  }
}

type DoneNode = Pick<GraphNode, 'node' | 'path' | 'name' | 'step'>

/** LangGraph names the channel of a join after its sources: `join:a+b:c`. */
function joinedNames({ metadata }: StreamEvent): readonly string[] {
  const triggers = Array.isArray(metadata?.langgraph_triggers) ? metadata.langgraph_triggers : []
  const join = triggers.find((trigger) => typeof trigger === 'string' && trigger.startsWith('join:'))
  return typeof join === 'string' ? (join.split(':')[1] ?? '').split('+') : []
}

function taskOf({ metadata }: StreamEvent): unknown {
  return metadata?.langgraph_checkpoint_ns ?? metadata?.checkpoint_ns
}

/**
 * LangGraph names a task by its path: `writer:1b9d|review:6ec0`. What is around an inner graph with a memory of its own
 * has no ids there, because the memory is the same in each run: `writer|review:6ec0`. A number counts the inner graphs that
 * one node calls.
 */
function isInside(task: unknown, outer: unknown): boolean {
  const parts = partsOf(task)
  const around = partsOf(outer)
  const isSame = (part: string, i: number): boolean => part === parts[i] || part.split(':')[0] === parts[i]
  return parts.length > around.length && around.every(isSame)
}

const partsOf = (task: unknown): readonly string[] =>
  String(task)
    .split('|')
    .filter((part) => !/^\d+$/.test(part))
