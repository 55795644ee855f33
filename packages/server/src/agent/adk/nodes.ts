import type { Event } from '@google/adk'
import type { NodeId, Problem, RunEvent } from '@millrace/core'
import type { Scope } from './scope.ts'

/** Who runs inside a run, and which event is whose. */
export interface NodeTracker {
  /**
   * Opens a node: `after` is filled in from the sibling that ended last, where the parent runs them in order. Undefined
   * for an execution that a resumed run has behind it.
   */
  open(name: string, scope: Scope, call?: string): NodeId | undefined
  close(node: NodeId, error?: Problem): void
  nodeOf(event: Event): NodeId | undefined
  /** The event is out: its node may be finished. */
  delivered(event: Event): void
  /** The event is about to travel through ADK's streams, as the node's own. */
  owns(node: NodeId, event: Event): void
  closeAll(error?: Problem): void
}

interface OpenNode {
  readonly id: NodeId
  readonly parent: NodeId | undefined
  /** Yielded by the agent, not yet out: a workflow's channel holds events back, and a node ends after its last. */
  readonly pending: Set<string>
  ended: { readonly error: Problem | undefined } | undefined
}

/** What a run that goes on has behind it, as nodes. */
export interface PastNodes {
  /** Executions that ended well: those of the conversation's own agents are not run again. */
  readonly done: ReadonlySet<NodeId>
  /** The calls that specialists have answered. */
  readonly doneCalls: ReadonlySet<string>
  /** How often each path was run. */
  readonly counts: ReadonlyMap<string, number>
}

export function nodeTracker(emit: (event: RunEvent) => void, past?: PastNodes): NodeTracker {
  const counts = new Map<string, number>()
  const open: OpenNode[] = []
  const owners = new Map<string, OpenNode>()
  const lastEnded = new Map<NodeId, NodeId>()

  const flush = (): void => {
    for (let i = open.length - 1; i >= 0; i--) {
      const node = open[i]
      if (node?.ended === undefined || node.pending.size > 0) continue
      if (open.some((other) => other.parent === node.id)) continue
      open.splice(i, 1)
      const { error } = node.ended
      if (node.parent !== undefined) lastEnded.set(node.parent, node.id)
      emit({ kind: 'node.finished', node: node.id, ...(error ? { status: 'error', error } : { status: 'ok' }) })
    }
  }
  const find = (id: NodeId): OpenNode | undefined => open.find((node) => node.id === id)

  return {
    open(name, scope, call) {
      const path = scope.node === undefined ? name : `${pathOf(scope.node)}/${name}`
      // Pipelines go through their agents again, in the same order, so the numbers meet. Calls are made once.
      const inCall = scope.nested !== undefined || scope.anew === true
      const count = (counts.get(path) ?? (inCall ? past?.counts.get(path) : undefined) ?? 0) + 1
      const id = `${path}@${count}`
      if (call === undefined ? !inCall && past?.done.has(id) : past?.doneCalls.has(call)) {
        if (!inCall) counts.set(path, count)
        if (scope.node !== undefined) lastEnded.set(scope.node, id)
        return undefined
      }
      counts.set(path, count)
      const before = scope.node !== undefined && inOrder(scope.agent) ? lastEnded.get(scope.node) : undefined
      open.push({ id, parent: scope.node, pending: new Set(), ended: undefined })
      emit({
        kind: 'node.started',
        node: id,
        agent: name,
        ...(scope.node === undefined ? {} : { parent: scope.node }),
        ...(before === undefined ? {} : { after: [before] }),
        ...(call === undefined ? {} : { call }),
      })
      return id
    },
    close(id, error) {
      const node = find(id)
      if (node !== undefined) node.ended ??= { error }
      flush()
    },
    owns(id, event) {
      const node = find(id)
      if (node === undefined || owners.has(event.id)) return
      owners.set(event.id, node)
      node.pending.add(event.id)
    },
    nodeOf: (event) => owners.get(event.id)?.id,
    delivered(event) {
      const node = owners.get(event.id)
      owners.delete(event.id)
      node?.pending.delete(event.id)
      if (node?.ended !== undefined) flush()
    },
    closeAll(error) {
      for (const node of open) {
        node.pending.clear()
        node.ended ??= { error }
      }
      flush()
    },
  }
}

/** `coordinator/burn_analyst@2` → `coordinator/burn_analyst`. */
function pathOf(node: NodeId): string {
  return node.slice(0, node.lastIndexOf('@'))
}

/** Whether the agent runs its sub-agents in order. ADK brands by symbols of the registry: it holds for any copy. */
export function inOrder(agent: object | undefined): boolean {
  return agent !== undefined && orderedBrands.some((brand) => Reflect.get(agent, brand) === true)
}
const orderedBrands = [Symbol.for('google.adk.sequentialAgent'), Symbol.for('google.adk.loopAgent')]
