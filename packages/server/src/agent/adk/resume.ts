import { createEvent, type Event } from '@google/adk'
import {
  type AdkEvent,
  type AgentSaid,
  adkRequest,
  isPartial,
  type NodeId,
  nodePath,
  type Recorded,
} from '@millrace/core'
import type { RunContext } from '../agent.ts'
import type { OpenInterrupts } from '../answer-parts.ts'
import { isNested } from '../nested-event.ts'
import type { PastNodes } from './nodes.ts'
import { continuedNodes, nodesBeforeAnswer, pastNodes, repeatedNodes } from './past-nodes.ts'

/**
 * What a continued run has already done: after a crash, or after a person answered in the middle of a pipeline. ADK has
 * no such notion. A finished agent is not run again, and a specialist continues from its recorded events. A model turn
 * whose tools were interrupted is not requested from the model again; the recorded one is repeated, so that its tools
 * run. Tools without a recorded answer run a second time; that is why authors opt in (`resumable`).
 */
export interface Resumption {
  readonly nodes: PastNodes
  /** ADK's id of the invocation that is continued: a workflow finds its finished nodes by it. */
  readonly invocation?: string | undefined
  /** The agent that the run began with; undefined when it had not begun. */
  readonly first?: string | undefined
  /** The recorded events of the specialist that answers this call. */
  nestedEvents(call: string): readonly Event[]
  /** How far an execution of this agent had come that was cut short: given once. */
  progressOf(author: string, branch: string | undefined): NodeProgress | undefined
  /** Whether the execution, which is done, left the loop around it. */
  hadEscalated(node: NodeId): boolean
  /** The turn that this agent was in the middle of: returned once, undefined from then on. */
  turnOf(author: string, branch: string | undefined): Event | undefined
  /** Whether the event repeats such a turn: it is in the log already. */
  isRepeated(event: Event): boolean
  /** Whether the event is left out of the history because `turnOf` will repeat it. */
  isOpenTurn(id: string): boolean
}

/** How far an execution had come. */
export interface NodeProgress {
  /** Its answer is whole. */
  readonly answered: boolean
  /** What its callback after the agent had to say is recorded, too. */
  readonly closed: boolean
  readonly escalated: boolean
  /** The agent that it had handed over to. */
  readonly transfer: string | undefined
  /** The ids of the events that it had yielded itself. */
  readonly events: readonly string[]
}

/**
 * For a run whose process died: its own rows are already done. `isPipeline` says that what earlier runs had done counts,
 * too, if this run answers their questions.
 */
export function afterCrash({ history, run }: RunContext, isPipeline: boolean): Resumption {
  const own = history.filter((row) => row.run === run)
  const nodes = withEarlier(pastNodes(own), history, own, isPipeline)
  const said = wholeEvents(own)
  const continued = continuedNodes(own)
  const isCut = ({ node }: AgentSaid): boolean => node === undefined || !isDone(node, nodes, continued)
  const last = new Map(said.map((row) => [`${row.event.author}\n${row.event.branch ?? ''}`, row]))
  const unfinished = [...last.values()].filter(isCut)
  const answered = new Set(
    said.flatMap(({ event }) => partsOf(event).flatMap((part) => part.functionResponse?.id ?? [])),
  )
  const turns = unfinished.map(({ event }) => event).filter((event) => isCutShort(event, answered))
  const open = new Map(turns.map((event) => [event.id, event]))
  const calls = new Set(turns.flatMap(callIds))
  const cut = new Map(
    unfinished.map((row) => [row.event, said.filter((other) => isOfSame(other, row) && isCut(other))]),
  )
  const escalated = escalatedNodes(own, said, continued)
  const result = JSON.stringify(said.findLast(({ event }) => event.output !== undefined)?.event.output)
  return {
    nodes,
    invocation: said[0]?.event.invocationId,
    first: own.flatMap(({ event }) => (event.kind === 'node.started' ? [event.agent] : []))[0],
    nestedEvents: (call) =>
      said
        .map(({ event }) => event)
        .filter((event) => event.isolationScope === call && isNested(event) && !open.has(event.id))
        // For the specialist these events are the whole conversation, not a nested part of one.
        .map(({ isolationScope: _, ...event }) => adkEvent(event)),
    progressOf(author, branch) {
      const found = [...cut].find(([event]) => event.author === author && event.branch === branch)
      if (found === undefined) return undefined
      cut.delete(found[0])
      return progressIn(found[1].map(({ event }) => event))
    },
    hadEscalated: (node) => escalated.has(node),
    turnOf(author, branch) {
      const turn = [...open.values()].find((event) => event.author === author && event.branch === branch)
      if (turn === undefined) return undefined
      open.delete(turn.id)
      return adkEvent(turn)
    },
    isRepeated: ({ content, output, nodeInfo }) => {
      // ADK yields the output of a workflow at its end, unless it has just seen it.
      if (output !== undefined && nodeInfo?.path === undefined) return JSON.stringify(output) === result
      return (content?.parts ?? []).some(({ functionCall }) => calls.has(functionCall?.id ?? ''))
    },
    isOpenTurn: (id) => open.has(id),
  }
}

/** Adds the nodes of the runs whose questions this run answers. */
function withEarlier(
  nodes: PastNodes,
  history: readonly Recorded[],
  own: readonly Recorded[],
  isPipeline: boolean,
): PastNodes {
  const ids = new Set(own.flatMap(({ event }) => (event.kind === 'resumed' ? [event.interrupt] : [])))
  const answered: OpenInterrupts = new Map()
  for (const { event } of history) if (event.kind === 'interrupt' && ids.has(event.id)) answered.set(event.id, event)
  const earlier = isPipeline ? nodesBeforeAnswer(history, answered) : repeatedNodes(history, answered)
  if (earlier === undefined) return nodes
  return {
    ...nodes,
    done: new Set([...earlier.done, ...nodes.done]),
    cut: new Set([...earlier.cut, ...nodes.cut]),
  }
}

/** For a run that answers interrupts: the nodes that the interrupted runs had finished are done. */
export function afterAnswer({ history }: RunContext, answered: OpenInterrupts): Resumption {
  return {
    nodes: nodesBeforeAnswer(history, answered),
    nestedEvents: () => [],
    progressOf: () => undefined,
    hadEscalated: () => false,
    turnOf: () => undefined,
    isRepeated: () => false,
    isOpenTurn: () => false,
  }
}

function wholeEvents(rows: readonly Recorded[]): readonly AgentSaid[] {
  const superseded = new Set(rows.flatMap(({ event }) => (event.kind === 'superseded' ? event.messages : [])))
  return rows.flatMap(({ event }) =>
    event.kind === 'agent' && !isPartial(event.event) && !superseded.has(event.message) ? [event] : [],
  )
}

/** Whether both are of one agent at one place. */
function isOfSame(one: AgentSaid, other: AgentSaid): boolean {
  const place = ({ node }: AgentSaid): string => (node === undefined ? '' : nodePath(node))
  return (
    one.event.author === other.event.author && one.event.branch === other.event.branch && place(one) === place(other)
  )
}

/** Whether the execution is done, or one that went on in its place after a crash. */
function isDone(node: NodeId, { done }: PastNodes, continued: ReadonlyMap<NodeId, NodeId>): boolean {
  return executionsOf(node, continued).some((each) => done.has(each))
}

/** The execution, and those that went on in its place. */
function executionsOf(node: NodeId, continued: ReadonlyMap<NodeId, NodeId>): readonly NodeId[] {
  const executions = [node]
  let next = continued.get(node)
  while (next !== undefined && !executions.includes(next)) {
    executions.push(next)
    next = continued.get(next)
  }
  return executions
}

/** The nodes that left a loop, and those around them: ADK passes the event up. */
function escalatedNodes(
  rows: readonly Recorded[],
  said: readonly AgentSaid[],
  continued: ReadonlyMap<NodeId, NodeId>,
): ReadonlySet<NodeId> {
  const parents = new Map(
    rows.flatMap(({ event }) => (event.kind === 'node.started' ? [[event.node, event.parent] as const] : [])),
  )
  const nodes = new Set<NodeId>()
  for (const { event, node } of said) {
    if (event.actions?.escalate !== true || isNested(event)) continue
    for (let at = node; at !== undefined; at = parents.get(at))
      for (const each of executionsOf(at, continued)) nodes.add(each)
  }
  return nodes
}

function progressIn(events: readonly AdkEvent[]): NodeProgress {
  const asked = events.findLastIndex(isLast)
  // Answers beside a question come after it.
  const acted = events.findLastIndex(
    (event, i) => acts(event) && i !== asked && (i < asked || callIds(event).length > 0 || asked < 0),
  )
  const transfer = events[acted]?.actions?.transferToAgent
  const end =
    transfer === undefined ? events.findIndex((event, i) => i > acted && (i === asked || isFinalAnswer(event))) : acted
  return {
    answered: transfer === undefined && end >= 0,
    closed: end >= 0 && events.slice(end + 1).some((event) => !acts(event)),
    escalated: events.some(({ actions }) => actions?.escalate === true),
    transfer,
    events: events.map(({ id }) => id),
  }
}

/** Whether one of the event's calls has no answer; a question that ADK itself asks has none in its own run. */
function isCutShort(event: AdkEvent, answered: ReadonlySet<string>): boolean {
  return !isLast(event) && callIds(event).some((id) => !answered.has(id))
}

const questions: ReadonlySet<string> = new Set(Object.values(adkRequest))

/** Whether an agent ends with the event, by ADK's rule: an answer that is not summarised, or a question to a person. */
function isLast(event: AdkEvent): boolean {
  if (event.actions?.skipSummarization === true) return true
  return partsOf(event).some(({ functionCall }) => functionCall !== undefined && questions.has(functionCall.name))
}

function acts(event: AdkEvent): boolean {
  return partsOf(event).some(({ functionCall, functionResponse }) => functionCall ?? functionResponse)
}

/** ADK's own rule: no call, no function response, no error. */
function isFinalAnswer(event: AdkEvent): boolean {
  return partsOf(event).length > 0 && !acts(event) && event.errorCode === undefined
}

function partsOf({ content }: AdkEvent): NonNullable<NonNullable<AdkEvent['content']>['parts']> {
  return content?.parts ?? []
}

function callIds(event: AdkEvent): readonly string[] {
  return partsOf(event).flatMap(({ functionCall }) => functionCall?.id ?? [])
}

function adkEvent(event: AdkEvent): Event {
  return createEvent(event as unknown as Parameters<typeof createEvent>[0])
}
