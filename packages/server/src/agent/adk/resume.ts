import { createEvent, type Event } from '@google/adk'
import type { AdkEvent, AgentSaid, NodeId, Recorded } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import type { OpenInterrupts } from '../answer-parts.ts'
import { isNested } from '../nested-event.ts'
import type { PastNodes } from './nodes.ts'

/**
 * What a continued run has already done: after a crash, or after a person answered in the middle of a pipeline. ADK has
 * no such notion. A finished agent is not run again, and a specialist continues from its recorded events. A model turn
 * whose tools were interrupted is not requested from the model again; the recorded one is repeated, so that its tools
 * run. Tools without a recorded answer run a second time; that is why authors opt in (`resumable`).
 */
export interface Resumption {
  readonly nodes: PastNodes
  /** The recorded events of the specialist that answers this call. */
  nestedEvents(call: string): readonly Event[]
  /** Whether this agent had finished its answer, and only its node was still open. True once. */
  hadSpoken(author: string, branch: string | undefined): boolean
  /** The turn that this agent was in the middle of: returned once, undefined from then on. */
  turnOf(author: string, branch: string | undefined): Event | undefined
  /** Whether the event repeats such a turn: it is in the log already. */
  isRepeated(event: Event): boolean
  /** Whether the event is left out of the history because `turnOf` will repeat it. */
  isOpenTurn(id: string): boolean
}

/** For a run whose process died: its own rows are already done. */
export function afterCrash({ history, run }: RunContext): Resumption {
  const own = history.filter((row) => row.run === run)
  const nodes = pastNodes(own)
  const said = wholeEvents(own)
  const last = new Map(said.map((row) => [`${row.event.author}\n${row.event.branch ?? ''}`, row]))
  const unfinished = [...last.values()].filter(({ node }) => node === undefined || !nodes.done.has(node))
  const answered = new Set(
    said.flatMap(({ event }) => partsOf(event).flatMap((part) => part.functionResponse?.id ?? [])),
  )
  const turns = unfinished.map(({ event }) => event).filter((event) => isCutShort(event, answered))
  const open = new Map(turns.map((event) => [event.id, event]))
  const calls = new Set(turns.flatMap(callIds))
  const spoken = new Set(unfinished.map(({ event }) => event).filter(isFinalAnswer))
  return {
    nodes,
    nestedEvents: (call) =>
      said
        .map(({ event }) => event)
        .filter((event) => event.isolationScope === call && isNested(event) && !open.has(event.id))
        // For the specialist these events are the whole conversation, not a nested part of one.
        .map(({ isolationScope: _, ...event }) => adkEvent(event)),
    hadSpoken(author, branch) {
      const answer = [...spoken].find((event) => event.author === author && event.branch === branch)
      return answer !== undefined && spoken.delete(answer)
    },
    turnOf(author, branch) {
      const turn = [...open.values()].find((event) => event.author === author && event.branch === branch)
      if (turn === undefined) return undefined
      open.delete(turn.id)
      return adkEvent(turn)
    },
    isRepeated: ({ content }) =>
      content?.parts?.some(({ functionCall }) => functionCall?.id !== undefined && calls.has(functionCall.id)) === true,
    isOpenTurn: (id) => open.has(id),
  }
}

/** For a run that answers interrupts: the nodes that the interrupted runs had finished are done. */
export function afterAnswer({ history }: RunContext, answered: OpenInterrupts): Resumption {
  const { done, cut } = pastNodes(interruptedRows(history, answered))
  const waiting = [...answered.values()].flatMap(({ node }) => node ?? [])
  const again = [...done].filter((node) => waiting.some((one) => isAbove(node, one)))
  return {
    nodes: {
      done: new Set([...done].filter((node) => !again.includes(node))),
      doneCalls: new Set(),
      counts: new Map(),
      cut: new Set([...cut, ...again]),
    },
    nestedEvents: () => [],
    hadSpoken: () => false,
    turnOf: () => undefined,
    isRepeated: () => false,
    isOpenTurn: () => false,
  }
}

/** For a run that answers interrupts and that ADK itself continues: only the numbers of the nodes go on. */
export function repeatedNodes({ history }: RunContext, answered: OpenInterrupts): PastNodes | undefined {
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

function wholeEvents(rows: readonly Recorded[]): readonly AgentSaid[] {
  const superseded = new Set(rows.flatMap(({ event }) => (event.kind === 'superseded' ? event.messages : [])))
  return rows.flatMap(({ event }) =>
    event.kind === 'agent' && event.event.partial !== true && !superseded.has(event.message) ? [event] : [],
  )
}

/** Whether one of the event's calls has no answer, and none waits for a person. */
function isCutShort(event: AdkEvent, answered: ReadonlySet<string>): boolean {
  return (event.longRunningToolIds ?? []).length === 0 && callIds(event).some((id) => !answered.has(id))
}

/** ADK's own rule: no call, no function response, no error. */
function isFinalAnswer(event: AdkEvent): boolean {
  const parts = partsOf(event)
  const acts = parts.some(({ functionCall, functionResponse }) => functionCall ?? functionResponse)
  return parts.length > 0 && !acts && event.errorCode === undefined
}

function partsOf({ content }: AdkEvent): NonNullable<NonNullable<AdkEvent['content']>['parts']> {
  return content?.parts ?? []
}

function callIds(event: AdkEvent): readonly string[] {
  return partsOf(event).flatMap(({ functionCall }) => functionCall?.id ?? [])
}

function pastNodes(rows: readonly Recorded[]): PastNodes {
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

function adkEvent(event: AdkEvent): Event {
  return createEvent(event as unknown as Parameters<typeof createEvent>[0])
}
