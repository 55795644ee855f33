import type { Cost } from '../../event/call-record.ts'
import type { Usage } from '../../event/run-event.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import type { FirstToken } from './first-token.ts'

/** What model calls cost, where their price was known: one sum for each currency. */
export type Costs = readonly Cost[]

export interface AgentUsage {
  readonly agent: string
  readonly usage: Usage
  /**
   * Between the start of a model call and its first token: as the agent's engine measured it, else by the times of the
   * partials. Absent where the log has neither.
   */
  readonly firstToken?: FirstToken
  readonly costs?: Costs
}
export interface RunUsage {
  readonly run: string
  readonly agent: string
  readonly usage: Usage
  readonly startedAt: number
  readonly duration?: number
  /**
   * The wait of the model call whose first token came first, in milliseconds: the same figure as that of the call. With
   * calls at the same time, that is not the first to begin and not the first to end.
   */
  readonly firstToken?: number
  readonly costs?: Costs
}
export interface UsageReport {
  readonly total: Usage
  readonly firstToken?: FirstToken | undefined
  readonly costs?: Costs | undefined
  /** In the order of their first events, partials included. */
  readonly agents: Sequence<AgentUsage>
  readonly runs: Sequence<RunUsage>
  readonly index: UsageIndex
}

/** The model call that a speaker (an author on a node or branch of a run) is in. */
export interface ModelCall {
  readonly agent: string
  /** The last whole message of the call, the usage that was counted for it, and whether a tool has answered since. */
  readonly message?: string
  readonly counted?: Usage
  readonly answered: boolean
  /** When the model was called, or will be. */
  readonly since: number
}
/** A message that has begun to stream, the usage on its partials, and whether it came whole. */
export interface StreamedMessageUsage {
  readonly agent: string
  readonly reported?: Usage
  readonly whole: boolean
}
export interface RecordedCall {
  readonly agent: string
  readonly startedAt: number
}
export interface MessageKeys {
  readonly key: string
  readonly before: MessageKeys | undefined
}
export interface UsageIndex {
  readonly places: Dictionary<number>
  /** By speaker. */
  readonly calls: Dictionary<ModelCall>
  readonly halves: Dictionary<StreamedMessageUsage>
  /** The messages that began to stream last: their further tokens are recognised without a look-up. */
  readonly recent: readonly { readonly run: string; readonly message: string }[]
  /** The messages that streamed in a run, and when anything in it was last whole. */
  readonly open: Dictionary<{ readonly halves: MessageKeys | undefined; readonly at: number }>
  readonly nodes: Dictionary<number>
  /** The agents of recorded model calls and when they were made, by run and call. */
  readonly recorded: Dictionary<RecordedCall>
  /** When the first token of each run with recorded calls came, as far as is known. */
  readonly firstAt: Dictionary<number>
  /** The runs whose model calls are recorded: there, messages do not count. */
  readonly recordedRuns: Dictionary<true>
  toJSON(): undefined
}

export const emptyUsage: UsageReport = {
  total: {},
  agents: Sequence.empty,
  runs: Sequence.empty,
  index: {
    places: Dictionary.empty,
    calls: Dictionary.empty,
    halves: Dictionary.empty,
    recent: [],
    open: Dictionary.empty,
    nodes: Dictionary.empty,
    recorded: Dictionary.empty,
    firstAt: Dictionary.empty,
    recordedRuns: Dictionary.empty,
    toJSON: () => undefined,
  },
}

/** Field by field, for the reason in ../timeline/state.ts. */
export function withUsageIndex(state: UsageReport, changed: Partial<UsageIndex>): UsageReport {
  const { index } = state
  return {
    total: state.total,
    firstToken: state.firstToken,
    costs: state.costs,
    agents: state.agents,
    runs: state.runs,
    index: {
      places: changed.places ?? index.places,
      calls: changed.calls ?? index.calls,
      halves: changed.halves ?? index.halves,
      recent: changed.recent ?? index.recent,
      open: changed.open ?? index.open,
      nodes: changed.nodes ?? index.nodes,
      recorded: changed.recorded ?? index.recorded,
      firstAt: changed.firstAt ?? index.firstAt,
      recordedRuns: changed.recordedRuns ?? index.recordedRuns,
      toJSON: index.toJSON,
    },
  }
}
