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
  /** Milliseconds from the start of the run to its first token, by whichever agent. As above. */
  readonly firstToken?: number
}
export interface UsageReport {
  readonly total: Usage
  readonly firstToken?: FirstToken | undefined
  /** In the order in which they were first heard, be it by a partial. */
  readonly agents: Sequence<AgentUsage>
  readonly runs: Sequence<RunUsage>
  readonly index: UsageIndex
}

/** The model call that a lane (an author on a node or branch of a run) is in. */
export interface ModelCall {
  readonly agent: string
  /** The last whole message of the call, what the call was counted with, and whether a tool answered since. */
  readonly message?: string
  readonly counted?: Usage
  readonly answered: boolean
  /** When the model was, or will be, asked. */
  readonly since: number
}
/** A message that has begun to stream, what its partials told, and whether it came whole. */
export interface StreamedMessageUsage {
  readonly agent: string
  readonly told?: Usage
  readonly whole: boolean
}
export interface MessageKeys {
  readonly key: string
  readonly before: MessageKeys | undefined
}
export interface UsageIndex {
  readonly places: Dictionary<number>
  readonly lanes: Dictionary<ModelCall>
  readonly halves: Dictionary<StreamedMessageUsage>
  /** The messages that began to stream last: their further tokens are told from the first without a look-up. */
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
    lanes: Dictionary.empty,
    halves: Dictionary.empty,
    recent: [],
    open: Dictionary.empty,
    nodes: Dictionary.empty,
    toJSON: () => undefined,
  },
}

/** Field by field, as in timeline-state.ts. */
export function withUsageIndex(state: UsageReport, changed: Partial<UsageIndex>): UsageReport {
  const { index } = state
  return {
    total: state.total,
    firstToken: state.firstToken,
    agents: state.agents,
    runs: state.runs,
    index: {
      places: changed.places ?? index.places,
      lanes: changed.lanes ?? index.lanes,
      halves: changed.halves ?? index.halves,
      recent: changed.recent ?? index.recent,
      open: changed.open ?? index.open,
      nodes: changed.nodes ?? index.nodes,
      toJSON: index.toJSON,
    },
  }
}
