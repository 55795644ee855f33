import type { JsonObject } from './json.ts'

/**
 * Google's ADK Event (2.0), kept whole: what an agent says and does.
 * Canonical form, as `ingest` leaves it: camelCase, `timestamp` in milliseconds, absent fields absent (never null).
 * Fields we have no use for are kept as they came (`[extra]`), so that nothing is lost on the way through.
 */
export interface AdkEvent {
  readonly id: string
  readonly author: string
  readonly invocationId: string
  /** Milliseconds. ADK JS writes milliseconds, ADK Python seconds; ingest tells them apart by magnitude. */
  readonly timestamp: number
  readonly content?: AdkContent
  /** A delta of a message still streaming. The aggregate that follows is not partial and replaces the deltas. */
  readonly partial?: boolean
  readonly turnComplete?: boolean
  readonly interrupted?: boolean
  readonly actions?: AdkActions
  readonly longRunningToolIds?: readonly string[]
  readonly branch?: string
  readonly finishReason?: string
  readonly errorCode?: string
  readonly errorMessage?: string
  readonly usageMetadata?: AdkUsage
  readonly groundingMetadata?: JsonObject
  readonly citationMetadata?: JsonObject
  readonly customMetadata?: JsonObject
  readonly modelVersion?: string
  readonly avgLogprobs?: number
  readonly nodeInfo?: AdkNodeInfo
  readonly output?: unknown
  readonly [extra: string]: unknown
}

export interface AdkContent {
  readonly role?: string
  readonly parts?: readonly AdkPart[]
}

/** google.genai `Part`: one of its fields is set; `thought` marks text as thinking. */
export interface AdkPart {
  readonly text?: string
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly functionCall?: AdkFunctionCall
  readonly functionResponse?: AdkFunctionResponse
  readonly inlineData?: AdkBlob
  readonly fileData?: { readonly fileUri?: string; readonly mimeType?: string; readonly displayName?: string }
  readonly executableCode?: { readonly code?: string; readonly language?: string }
  readonly codeExecutionResult?: AdkCodeExecutionResult
  readonly [extra: string]: unknown
}

export interface AdkFunctionCall {
  readonly id?: string
  readonly name: string
  readonly args?: JsonObject
  readonly [extra: string]: unknown
}

export interface AdkFunctionResponse {
  readonly id?: string
  readonly name: string
  readonly response?: JsonObject
  readonly [extra: string]: unknown
}

export interface AdkBlob {
  readonly mimeType?: string
  /** base64 */
  readonly data?: string
  readonly displayName?: string
}

export interface AdkCodeExecutionResult {
  readonly outcome?: string
  readonly output?: string
}

export interface AdkActions {
  readonly stateDelta?: JsonObject
  readonly artifactDelta?: Readonly<Record<string, number>>
  readonly requestedAuthConfigs?: JsonObject
  readonly requestedToolConfirmations?: JsonObject
  readonly skipSummarization?: boolean
  readonly transferToAgent?: string
  readonly escalate?: boolean
  readonly agentState?: JsonObject
  readonly endOfAgent?: boolean
  readonly route?: unknown
  readonly [extra: string]: unknown
}

export interface AdkUsage {
  readonly promptTokenCount?: number
  readonly candidatesTokenCount?: number
  readonly totalTokenCount?: number
  readonly thoughtsTokenCount?: number
  readonly cachedContentTokenCount?: number
  readonly [extra: string]: unknown
}

export interface AdkNodeInfo {
  readonly path?: string
  readonly outputFor?: unknown
  readonly messageAsOutput?: boolean
  readonly [extra: string]: unknown
}
