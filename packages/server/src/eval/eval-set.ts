import type { AdkContent, AdkPart, JsonObject } from '@millrace/core'

// Evaluation as ADK names it: a set has cases, a case is a conversation, an invocation is one turn of it. The fields are
// those of ADK's files and of adk-web.

export interface EvalSet {
  readonly evalSetId: string
  readonly name?: string
  readonly description?: string
  readonly evalCases: readonly EvalCase[]
  /** Seconds. */
  readonly creationTimestamp: number
}

export interface EvalCase {
  readonly evalId: string
  readonly conversation: readonly Invocation[]
  readonly sessionInput?: SessionInput
  /** What the state must hold at the end. ADK writes an empty one where nothing is expected. */
  readonly finalSessionState?: JsonObject
  readonly creationTimestamp: number
}

export interface SessionInput {
  readonly appName: string
  readonly userId: string
  /** The state in which the conversation begins. */
  readonly state: JsonObject
}

/** What the user said, what the agents answered, and the tools that they called on the way. */
export interface Invocation {
  readonly invocationId: string
  readonly userContent: AdkContent
  readonly finalResponse?: AdkContent
  readonly intermediateData: IntermediateData
  readonly creationTimestamp: number
}

export interface IntermediateData {
  readonly toolUses: readonly ToolUse[]
  /** What agents said before the final response: author and parts. */
  readonly intermediateResponses: readonly (readonly [string, readonly AdkPart[]])[]
}

export interface ToolUse {
  readonly id?: string
  readonly name: string
  readonly args: JsonObject
}

/** ADK's numbers for a verdict. */
export const evalStatus = { passed: 1, failed: 2, notEvaluated: 3 } as const
export type EvalStatus = (typeof evalStatus)[keyof typeof evalStatus]

/** A criterion and the score that it must reach. */
export interface EvalMetric {
  readonly metricName: string
  readonly threshold: number
  readonly criterion?: { readonly matchType?: MatchType }
}

/** How the calls of a run must match the expected ones: the same; these, in this order, others between; these, in any order. */
export type MatchType = 'EXACT' | 'IN_ORDER' | 'ANY_ORDER'

export interface EvalMetricResult {
  readonly metricName: string
  readonly threshold: number
  /** Absent when nothing was evaluated. */
  readonly score?: number
  readonly evalStatus: EvalStatus
}

export interface InvocationResult {
  readonly actualInvocation: Invocation
  readonly expectedInvocation: Invocation
  readonly evalMetricResults: readonly EvalMetricResult[]
}

/** The result of one case. */
export interface EvalCaseResult {
  readonly evalSetId: string
  readonly evalId: string
  readonly finalEvalStatus: EvalStatus
  readonly overallEvalMetricResults: readonly EvalMetricResult[]
  readonly evalMetricResultPerInvocation: readonly InvocationResult[]
  /** The session of the run that was evaluated. */
  readonly sessionId: string
  readonly userId: string
}

/** The results of one evaluation of a set. */
export interface EvalSetResult {
  readonly evalSetResultId: string
  readonly evalSetResultName: string
  readonly evalSetId: string
  readonly evalCaseResults: readonly EvalCaseResult[]
  readonly creationTimestamp: number
}
