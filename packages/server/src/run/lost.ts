import { isObject, type NodeId, type Recorded, type Superseded } from '@millrace/core'
import type { AgentDescription } from '../agent/agent.ts'
import { RunLedger } from './ledger.ts'

/**
 * What a run that goes on from these rows carries out again (SPEC 4.6): half messages, or, where its engine runs nodes again
 * from their start, all that those nodes recorded. Such an engine goes on from its newest checkpoint: if the log has it,
 * `sealed` is its seq, and a node that ended after it runs again like one that is open. So does one that the checkpoint names as `unsaved`.
 */
export function lostBy(
  rows: readonly Recorded[],
  run: string,
  { redoesNodes = false, checkpoints }: Pick<AgentDescription, 'redoesNodes' | 'checkpoints'>,
  sealed: number | undefined,
): Superseded {
  const ledger = RunLedger.of(rows, run)
  const open = ledger.openNodes
  if (!redoesNodes) return { kind: 'superseded', messages: ledger.unfinishedMessages, nodes: open }
  const own = rows.filter((row) => row.run === run)
  const record = recordAt(own, sealed)
  // A store of the engine's own may have any of the nodes that ended, unless a record says how far the log follows it.
  const isFollowed = checkpoints === 'log' || Array.isArray(record.spaces)
  const gone = supersededIn(own)
  const ended = isFollowed
    ? [...endedAfter(own, sealed ?? 0), ...unsavedIn(record)].filter((node) => !gone.has(node))
    : []
  const nodes = [...new Set([...open, ...ended])]
  const again = new Set<NodeId | undefined>(nodes)
  const said = own.flatMap(({ event }) =>
    event.kind === 'agent' && event.node !== undefined && again.has(event.node) ? [event.message] : [],
  )
  const messages = [...new Set([...ledger.unfinishedMessages, ...said])]
  return { kind: 'superseded', messages, nodes, facts: true }
}

/** What earlier crashes made void. A node that ran again after one has another id by now. */
function supersededIn(rows: readonly Recorded[]): ReadonlySet<NodeId> {
  return new Set(rows.flatMap(({ event }) => (event.kind === 'superseded' ? event.nodes : [])))
}

/** The latest first. */
function endedAfter(rows: readonly Recorded[], seq: number): readonly NodeId[] {
  return rows
    .flatMap(({ seq: at, event }) => (event.kind === 'node.finished' && at > seq ? [event.node] : []))
    .reverse()
}

/** What the engine's newest record says. */
function recordAt(rows: readonly Recorded[], sealed: number | undefined): Readonly<Record<string, unknown>> {
  const event = rows.findLast(({ seq }) => seq === sealed)?.event
  return event?.kind === 'log' && isObject(event.data) ? event.data : {}
}

/** The ended nodes that the record itself says the engine's checkpoint does not have. */
function unsavedIn({ unsaved }: Readonly<Record<string, unknown>>): readonly NodeId[] {
  const nodes = Array.isArray(unsaved) ? (unsaved as readonly unknown[]) : []
  return nodes.filter((node) => typeof node === 'string')
}
