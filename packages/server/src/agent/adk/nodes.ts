import type { Event } from '@google/adk'
import { defined, type Interrupted, type NodeId, nodePath, type Problem } from '@millrace/core'
import type { AdkRun, Scope } from './scope.ts'

/** The nodes that a continued run has already executed. */
export interface PastNodes {
  /** Executions that succeeded: those of the conversation's own agents are not run again. */
  readonly done: ReadonlySet<NodeId>
  /** The calls that specialists have answered. */
  readonly doneCalls: ReadonlySet<string>
  /** How often each path was run. */
  readonly counts: ReadonlyMap<string, number>
  /** Executions that a crash or a question cut short: what runs in their place has the next number of the path. */
  readonly cut: ReadonlySet<NodeId>
}

interface OpenNode {
  readonly id: NodeId
  readonly parent: NodeId | undefined
  readonly startedAt: number
  /** Events that the agent yielded and ADK has not delivered yet: a workflow delays them, and a node ends after its last. */
  readonly pending: Set<string>
  ended: { readonly error: Problem | undefined } | undefined
  /** Whether a node inside it waits for a person. */
  waits: boolean
}

/** The nodes of a run that are open, and the node that each event belongs to. */
export class NodeTracker {
  readonly #run: Pick<AdkRun, 'emit' | 'endCall' | 'now'>
  /** The questions that the node leaves open. */
  readonly #questions: (node: NodeId) => readonly Interrupted[]
  readonly #past: PastNodes | undefined
  readonly #counts = new Map<string, number>()
  /** In the order they were opened. */
  readonly #open: OpenNode[] = []
  readonly #owners = new Map<string, OpenNode>()
  readonly #lastEnded = new Map<NodeId, NodeId>()

  constructor(
    run: Pick<AdkRun, 'emit' | 'endCall' | 'now'>,
    questions: (node: NodeId) => readonly Interrupted[],
    past?: PastNodes,
  ) {
    this.#run = run
    this.#questions = questions
    this.#past = past
  }

  /**
   * Opens a node: `after` is the sibling that ended last, where the parent runs its children in order. An execution that
   * a resumed run has already done is only named.
   */
  open(name: string, scope: Scope, call?: string): { readonly id: NodeId; readonly isDone: boolean } {
    const next = this.#next(name, scope, call)
    if (next.isDone) return next
    const { id } = next
    const { node: parent } = scope
    const before = parent !== undefined && inOrder(scope.agent) ? this.#lastEnded.get(parent) : undefined
    const startedAt = this.#run.now()
    this.#open.push({ id, parent, startedAt, pending: new Set(), ended: undefined, waits: false })
    this.#run.emit({
      kind: 'node.started',
      node: id,
      agent: name,
      ...defined({ parent, after: before === undefined ? undefined : [before], call }),
    })
    return next
  }

  /** The node's generator has ended. The node ends once its last event is delivered and every node inside it has ended. */
  close(id: NodeId, error?: Problem): void {
    const node = this.#find(id)
    if (node !== undefined) node.ended ??= { error }
    this.#flush()
  }

  /** Marks an event that the node yields, before it passes through ADK's streams. */
  owns(id: NodeId, event: Event): void {
    const node = this.#find(id)
    if (node === undefined || this.#owners.has(event.id)) return
    this.#owners.set(event.id, node)
    node.pending.add(event.id)
  }

  nodeOf(event: Event): NodeId | undefined {
    return this.#owners.get(event.id)?.id
  }

  /** The event has left ADK's streams, so its node may be finished. */
  delivered(event: Event): void {
    const node = this.#owners.get(event.id)
    this.#owners.delete(event.id)
    node?.pending.delete(event.id)
    if (node?.ended !== undefined) this.#flush()
  }

  closeAll(error?: Problem): void {
    for (const node of this.#open) {
      node.pending.clear()
      node.ended ??= { error }
    }
    this.#flush()
  }

  /**
   * The id of the next execution. A resumed pipeline runs its agents in the same order, so the counts match; what was cut
   * short keeps its number, and runs again under the next one (SPEC 4.4).
   */
  #next(name: string, scope: Scope, call: string | undefined): { readonly id: NodeId; readonly isDone: boolean } {
    const path = scope.node === undefined ? name : `${nodePath(scope.node)}/${name}`
    // Calls are made once: executions inside a call continue the numbers from before the crash.
    const inCall = scope.nested !== undefined || scope.inWorkflow === true
    let count = (this.#counts.get(path) ?? (inCall ? this.#past?.counts.get(path) : undefined) ?? 0) + 1
    while (this.#past?.cut.has(`${path}@${count}`)) count += 1
    const id = `${path}@${count}`
    if (call === undefined ? !inCall && this.#past?.done.has(id) : this.#past?.doneCalls.has(call)) {
      if (!inCall) this.#counts.set(path, count)
      if (scope.node !== undefined) this.#lastEnded.set(scope.node, id)
      return { id, isDone: true }
    }
    this.#counts.set(path, count)
    return { id, isDone: false }
  }

  #find(id: NodeId): OpenNode | undefined {
    return this.#open.find((node) => node.id === id)
  }

  #flush(): void {
    for (let i = this.#open.length - 1; i >= 0; i--) {
      const node = this.#open[i]
      if (node?.ended === undefined || node.pending.size > 0) continue
      if (this.#open.some((other) => other.parent === node.id)) continue
      this.#open.splice(i, 1)
      const { error } = node.ended
      if (node.parent !== undefined) this.#lastEnded.set(node.parent, node.id)
      const questions = this.#questions(node.id)
      for (const question of questions) this.#run.emit(question)
      const waits = node.waits || questions.length > 0
      const around = this.#open.find(({ id }) => id === node.parent)
      if (waits && around !== undefined) around.waits = true
      const status = error !== undefined ? ({ status: 'error', error } as const) : { status: endOf(waits) }
      // First the node's open model call, so that no call takes longer than its node.
      this.#run.endCall(node.id, error)
      // The rows of nodes that run side by side may be written together, so the log's own times do not tell them apart.
      const duration = Math.max(0, this.#run.now() - node.startedAt)
      this.#run.emit({ kind: 'node.finished', node: node.id, ...status, duration })
    }
  }
}

function endOf(waits: boolean): 'ok' | 'interrupted' {
  return waits ? 'interrupted' : 'ok'
}

/** Whether the agent runs its sub-agents in order. ADK marks its classes with global symbols, so any copy of it works. */
export function inOrder(agent: object | undefined): boolean {
  return agent !== undefined && orderedBrands.some((brand) => Reflect.get(agent, brand) === true)
}
const orderedBrands = [Symbol.for('google.adk.sequentialAgent'), Symbol.for('google.adk.loopAgent')]
