import type { Problem } from '../../event/problem.ts'
import type { NodeId, Recorded } from '../../event/run-event.ts'
import type { JsonObject } from '../../json/json.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'

/** How control came to a node: from outside, from its caller, from the step before, or handed over by name. */
export type Via = 'start' | 'delegate' | 'sequence' | 'transfer'

/** One execution of one node: a bar of the waterfall. Optional fields may be undefined, for the reason in ../transcript/item.ts. */
export interface Execution {
  /** Unique in the session. */
  readonly key: string
  readonly run: string
  readonly node: NodeId
  /** The node without its count: what a graph draws once (`coordinator/burn_analyst`). */
  readonly path: string
  readonly agent: string
  readonly parent?: NodeId | undefined
  /** The executions whose end led here. */
  readonly after: readonly NodeId[]
  readonly via: Via
  /** The function call it answers, where there is one. */
  readonly call?: string | undefined
  readonly status: 'running' | 'ok' | 'error' | 'interrupted'
  readonly error?: Problem | undefined
  readonly startSeq: number
  readonly startedAt: number
  readonly endSeq?: number | undefined
  readonly endedAt?: number | undefined
  /** Milliseconds. */
  readonly duration?: number | undefined
  /** The state it found, and the state it left. Shared with the neighbours', not copied. */
  readonly input: JsonObject
  readonly output?: JsonObject | undefined
  /** The top-level state keys that it, or a node inside it, changed. */
  readonly wrote: Sequence<string>
  readonly known: Dictionary<true>
  /** The log has no nodes: this execution was inferred from authors and branches. */
  readonly inferred?: true | undefined
  /** A crash interrupted it and it ran again (SPEC 4.6). */
  readonly superseded?: true | undefined
}

/** An agent whose first text streams. In a log without nodes it has no execution until that text is whole. */
export interface Starting {
  readonly run: string
  readonly agent: string
  readonly branch: string
}

export interface Timeline {
  /** In the order of their starts. */
  readonly executions: Sequence<Execution>
  readonly starting: readonly Starting[]
  readonly index: TimelineIndex
}

/** Positions, newest first. */
export interface Positions {
  readonly position: number
  readonly before: Positions | undefined
}
/** The children of one parent: those that ran last, at the same time, and the nodes that ran before those. */
export interface Phase {
  readonly previous: readonly NodeId[]
  readonly current: Positions | undefined
  readonly running: number
}
/** How an execution began: when, with which state, after and inside which others. */
export interface Cause {
  readonly via: Via
  readonly parent?: NodeId | undefined
  readonly after: readonly NodeId[]
  readonly startSeq: number
  readonly startedAt: number
  readonly input: JsonObject
}
/** The agent that speaks on one branch, in a run without nodes. */
export interface SpeakingAgent {
  readonly branch: string
  readonly author: string
  readonly node: NodeId
  readonly position: number
  readonly cause: Cause
  /** Function calls without a response: while there are any, other agents run inside it. */
  readonly waiting: number
  /** Its execution is over; it stays in the list because others come after it. */
  readonly over: boolean
  /** Its last event, and the state after it. */
  readonly seq: number
  readonly at: number
  readonly state: JsonObject
  readonly transfer?: string
  readonly error?: Problem
}
/** A specialist that was called as a tool and has not answered. */
export interface AskedAgent {
  /** The id of the call, where it has one. */
  readonly call?: string | undefined
  readonly name: string
  readonly caller: Pick<Execution, 'node' | 'path'>
  /** The call, and the state after it. */
  readonly seq: number
  readonly at: number
  readonly input: JsonObject
}
export interface RunTimeline {
  readonly startSeq: number
  readonly startedAt: number
  readonly startState: JsonObject
  /** The run has events for its nodes. */
  readonly named: boolean
  readonly ended: boolean
  /** The run that it goes on with: the one directly before it, which ended with a question. */
  readonly continues?: string | undefined
  readonly executions: Positions | undefined
  readonly speakers: readonly SpeakingAgent[]
  readonly asked: readonly AskedAgent[]
}

export interface TimelineIndex {
  /** The session's state now. */
  readonly state: JsonObject
  readonly nodes: Dictionary<number>
  readonly agents: Dictionary<number>
  readonly counts: Dictionary<number>
  readonly transfers: Dictionary<string>
  readonly phases: Dictionary<Phase>
  readonly runs: Dictionary<RunTimeline>
  /** The run that ended last, where it waits for a person; else ''. */
  readonly waiting: string
  toJSON(): undefined
}

export const emptyTimeline: Timeline = {
  executions: Sequence.empty,
  starting: [],
  index: {
    state: {},
    nodes: Dictionary.empty,
    agents: Dictionary.empty,
    counts: Dictionary.empty,
    transfers: Dictionary.empty,
    phases: Dictionary.empty,
    runs: Dictionary.empty,
    waiting: '',
    toJSON: () => undefined,
  },
}

export const timelineKey = (run: string, id: string): string => `${run}\n${id}`

export function trackOf({ index }: Timeline, { run, seq, at }: Recorded): RunTimeline {
  return (
    index.runs.get(run) ?? {
      startSeq: seq,
      startedAt: at,
      startState: index.state,
      named: false,
      ended: false,
      executions: undefined,
      speakers: [],
      asked: [],
    }
  )
}

/** Field by field: a spread of the index takes 400 ns on Node 20, and a node's start would need five. */
export function withTimelineIndex(
  { executions, starting, index }: Timeline,
  changed: Partial<TimelineIndex>,
): Timeline {
  return {
    executions,
    starting,
    index: {
      state: changed.state ?? index.state,
      nodes: changed.nodes ?? index.nodes,
      agents: changed.agents ?? index.agents,
      counts: changed.counts ?? index.counts,
      transfers: changed.transfers ?? index.transfers,
      phases: changed.phases ?? index.phases,
      runs: changed.runs ?? index.runs,
      waiting: changed.waiting ?? index.waiting,
      toJSON: index.toJSON,
    },
  }
}

export function withExecution({ executions, starting, index }: Timeline, position: number, made: Execution): Timeline {
  const list = position === executions.length ? executions.append(made) : executions.with(position, made)
  return { executions: list, starting, index }
}

/** Bounds the search for a node in the runs that a run goes on with. */
const mostContinued = 64

/** The execution of a node in this run, else in the runs that it goes on with, the newest first. */
export function executionOf({ executions, index }: Timeline, run: string, node: NodeId): Execution | undefined {
  let of: string | undefined = run
  for (let i = 0; of !== undefined && i < mostContinued; i++) {
    const position = index.nodes.get(timelineKey(of, node))
    if (position !== undefined) return executions.at(position)
    of = index.runs.get(of)?.continues
  }
  return undefined
}
