import type { Cost } from '../../event/call-record.ts'
import type { Problem } from '../../event/problem.ts'
import type { NodeId, Usage } from '../../event/run-event.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'

/** One call of a model or of a tool. */
export interface Call {
  /** `<run>/<call>`. */
  readonly key: string
  readonly kind: 'model' | 'tool'
  readonly run: string
  readonly call: string
  readonly agent: string
  readonly node?: NodeId
  /** The name of the model (`unknownModel` where the log does not have it) or of the tool. */
  readonly name: string
  /**
   * `cut`: its run ended, or was interrupted by a crash, before the answer came. `waiting`: its run has ended with a question
   * to a person, and a later run may bring the answer.
   */
  readonly status: 'running' | 'waiting' | 'ok' | 'error' | 'cut'
  readonly startSeq: number
  readonly startedAt: number
  readonly endSeq?: number
  readonly endedAt?: number
  /** As the engine measured it; the times of the log may lie a little later. */
  readonly duration?: number
  readonly firstToken?: number
  readonly usage?: Usage
  readonly cost?: Cost
  readonly finishReason?: string
  readonly parameters?: JsonObject
  readonly messages?: readonly string[]
  readonly error?: Problem
  /** Whether the log has the request of this model call. */
  readonly recorded?: boolean
  /**
   * Another server called its model. Its times were measured on arrival: where the wire does not show the call itself,
   * `duration` and `firstToken` count from what came before the answer.
   */
  readonly remote?: true
}

/** The name of a model that the log does not have. */
export const unknownModel = 'unknown model'

/** What was sent to a model, put together from the log. */
export interface ModelRequest {
  readonly system?: Json
  readonly contents: readonly Json[]
  readonly tools?: Json
  /** Why it is not whole. */
  readonly omitted?: string
}

export interface Calls {
  /** In the order of their starts. */
  readonly calls: Sequence<Call>
  readonly index: CallsIndex
}

interface KeptRequest extends Omit<ModelRequest, 'contents'> {
  readonly contents: Sequence<Json>
}

export interface CallsIndex {
  /** Positions in `calls`, by key. */
  readonly places: Dictionary<number>
  /** Positions of the calls that run, by run. */
  readonly running: Dictionary<readonly number[]>
  /** The keys of the tool calls that wait for a person, by call. */
  readonly waiting: Dictionary<string>
  readonly requests: Dictionary<KeptRequest>
  readonly responses: Dictionary<Json>
  readonly values: Dictionary<Json>
  /** The content of each whole message, by its id. */
  readonly messages: Dictionary<Json>
  toJSON(): undefined
}

export const noCalls: Calls = {
  calls: Sequence.empty,
  index: {
    places: Dictionary.empty,
    running: Dictionary.empty,
    waiting: Dictionary.empty,
    requests: Dictionary.empty,
    responses: Dictionary.empty,
    values: Dictionary.empty,
    messages: Dictionary.empty,
    toJSON: () => undefined,
  },
}

export function withCallsIndex(state: Calls, changed: Partial<CallsIndex>): Calls {
  return { calls: state.calls, index: { ...state.index, ...changed } }
}
