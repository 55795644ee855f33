import type { Usage } from '../../event/run-event.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import type { FirstToken } from './first-token.ts'

export interface AgentUsage {
  readonly agent: string
  readonly usage: Usage
  /** Between the start of a model call and its first token. Measured on partials: absent where none were kept. */
  readonly firstToken?: FirstToken
}
export interface RunUsage {
  readonly run: string
  readonly agent: string
  readonly usage: Usage
  readonly startedAt: number
  readonly duration?: number
  /** Milliseconds from the start of the run to its first token, of any agent. Absent where no partials were kept. */
  readonly firstToken?: number
}
export interface UsageReport {
  readonly total: Usage
  readonly firstToken?: FirstToken | undefined
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
    toJSON: () => undefined,
  },
}

/** Field by field, for the reason in ../timeline/state.ts. */
export function withUsageIndex(state: UsageReport, changed: Partial<UsageIndex>): UsageReport {
  const { index } = state
  return {
    total: state.total,
    firstToken: state.firstToken,
    agents: state.agents,
    runs: state.runs,
    index: {
      places: changed.places ?? index.places,
      calls: changed.calls ?? index.calls,
      halves: changed.halves ?? index.halves,
      recent: changed.recent ?? index.recent,
      open: changed.open ?? index.open,
      nodes: changed.nodes ?? index.nodes,
      toJSON: index.toJSON,
    },
  }
}
