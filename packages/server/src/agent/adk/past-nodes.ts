import { type NodeId, nodePath, type Recorded } from '@millrace/core'
import type { OpenInterrupts } from '../answer-parts.ts'
import type { PastNodes } from './nodes.ts'

/** The nodes in these rows. A node that waits for a person is done as far as its own run is concerned. */
export function pastNodes(rows: readonly Recorded[]): PastNodes {
  const started = new Set<NodeId>()
  const done = new Set<NodeId>()
  const calls = new Map<NodeId, string>()
  const counts = new Map<string, number>()
  for (const { event } of rows) {
    if (event.kind === 'node.started') {
      const at = event.node.lastIndexOf('@')
      counts.set(event.node.slice(0, at), Number(event.node.slice(at + 1)))
      started.add(event.node)
      if (event.call !== undefined) calls.set(event.node, event.call)
    } else if (event.kind === 'node.finished' && event.status !== 'error') done.add(event.node)
    else if (event.kind === 'superseded') for (const node of event.nodes) done.delete(node)
  }
  const cut = new Set([...started].filter((node) => !done.has(node)))
  return { done, counts, cut, doneCalls: new Set([...done].flatMap((node) => calls.get(node) ?? [])) }
}

/**
 * The executions that crashes cut short, each with the one that went on in its place: the next one of its path, inside the
 * same call of a specialist, that started after the crash.
 */
export function continuedNodes(rows: readonly Recorded[]): ReadonlyMap<NodeId, NodeId> {
  const places = new Map<NodeId, string>()
  const calls = new Map<NodeId, string>()
  const lost = new Map<string, NodeId[]>()
  const continued = new Map<NodeId, NodeId>()
  for (const { event } of rows) {
    if (event.kind === 'node.started') {
      const call = event.call ?? (event.parent === undefined ? undefined : calls.get(event.parent))
      if (call !== undefined) calls.set(event.node, call)
      const place = JSON.stringify([nodePath(event.node), call])
      places.set(event.node, place)
      const node = lost.get(place)?.shift()
      if (node !== undefined) continued.set(node, event.node)
    } else if (event.kind === 'superseded') {
      for (const node of event.nodes) {
        const place = places.get(node) ?? ''
        lost.set(place, [...(lost.get(place) ?? []), node])
      }
    }
  }
  return continued
}

/** For a run that answers interrupts: what the interrupted runs had finished is done, except the nodes that waited. */
export function nodesBeforeAnswer(history: readonly Recorded[], answered: OpenInterrupts): PastNodes {
  const { done, cut } = pastNodes(interruptedRows(history, answered))
  const waiting = [...answered.values()].flatMap(({ node }) => node ?? [])
  const again = [...done].filter((node) => waiting.some((one) => isAbove(node, one)))
  return {
    done: new Set([...done].filter((node) => !again.includes(node))),
    doneCalls: new Set(),
    counts: new Map(),
    cut: new Set([...cut, ...again]),
  }
}

/** For a run that answers interrupts and that ADK itself continues: only the numbers of the nodes go on. */
export function repeatedNodes(history: readonly Recorded[], answered: OpenInterrupts): PastNodes | undefined {
  if (answered.size === 0) return undefined
  const { done, cut } = pastNodes(interruptedRows(history, answered))
  return { done: new Set(), doneCalls: new Set(), counts: new Map(), cut: new Set([...done, ...cut]) }
}

/** The rows of the run that asked, and of the runs that it continued in turn. */
function interruptedRows(history: readonly Recorded[], answered: OpenInterrupts): readonly Recorded[] {
  const runs = new Set<string>()
  const questions = new Set(answered.keys())
  for (const { run, event } of [...history].reverse()) {
    if (event.kind === 'interrupt' && questions.has(event.id)) runs.add(run)
    if (event.kind === 'resumed' && runs.has(run)) questions.add(event.interrupt)
  }
  return history.filter(({ run }) => runs.has(run))
}

/** Whether `node` is the other node or contains it: `root/fan@1` is above `root/fan/a@1`. */
function isAbove(node: NodeId, other: NodeId): boolean {
  const path = node.slice(0, node.lastIndexOf('@'))
  return node === other || other.startsWith(`${path}/`)
}
