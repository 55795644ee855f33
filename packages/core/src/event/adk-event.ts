import type { Json, JsonObject } from '../json/json.ts'

/**
 * Google's ADK Event (2.0), kept whole: what an agent says and does.
 * Canonical form, as `ingest` leaves it: camelCase, `timestamp` in milliseconds, absent fields absent (never null).
 * Fields that Millrace does not use are kept as they came (`[extra]`), so that nothing is lost.
 */
export interface AdkEvent {
  readonly id: string
  readonly author: string
  /** '' where the wire gave none. */
  readonly invocationId: string
  /**
   * Milliseconds. ADK JS writes milliseconds, ADK Python seconds; ingest distinguishes them by magnitude. 0 where the
   * wire gave none. In ADK JS it is when the model step began, so the partials of one step all carry the same.
   */
  readonly timestamp: number
  /** Python, newer versions: the model turn. */
  readonly turnId?: string
  readonly content?: AdkContent
  /** A delta of a message still streaming. The aggregate that follows is not partial and replaces the deltas. */
  readonly partial?: boolean
  readonly turnComplete?: boolean
  readonly interrupted?: boolean
  readonly actions?: AdkActions
  /** ADK JS always writes it, `[]` when there is none: check its length, not its presence. */
  readonly longRunningToolIds?: readonly string[]
  /** Which of several parallel conversations: `fanout.r1`, `name@1`, `consult@adk-<call id>.burn_analyst@1`. */
  readonly branch?: string
  readonly finishReason?: string
  readonly finishMessage?: string
  readonly errorCode?: string
  readonly errorMessage?: string
  readonly usageMetadata?: AdkUsage
  readonly groundingMetadata?: AdkGrounding
  readonly citationMetadata?: AdkCitations
  readonly customMetadata?: JsonObject
  readonly modelVersion?: string
  readonly avgLogprobs?: number
  readonly logprobsResult?: Json
  readonly cacheMetadata?: Json
  readonly nodeInfo?: AdkNodeInfo
  /** The structured output of the workflow node that spoke. */
  readonly output?: unknown
  /** The route key or keys by which a workflow node chose its successors. */
  readonly route?: unknown
  readonly isolationScope?: string
  readonly inputTranscription?: AdkTranscription
  readonly outputTranscription?: AdkTranscription
  readonly voiceActivity?: Json
  readonly liveSessionResumptionUpdate?: JsonObject
  readonly goAway?: Json
  readonly interactionId?: string
  readonly liveSessionId?: string
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
  readonly executableCode?: { readonly id?: string; readonly code?: string; readonly language?: string }
  readonly codeExecutionResult?: AdkCodeExecutionResult
  readonly videoMetadata?: { readonly startOffset?: string; readonly endOffset?: string; readonly fps?: number }
  readonly partMetadata?: JsonObject
  readonly [extra: string]: unknown
}

export interface AdkFunctionCall {
  readonly id?: string
  /** '' in a partial whose name has not come yet. */
  readonly name: string
  readonly args?: JsonObject
  /** Only in partials: more of it is to come. */
  readonly willContinue?: boolean
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
  readonly id?: string
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
  readonly compaction?: AdkCompaction
  readonly rewindBeforeInvocationId?: string
  readonly renderUiWidgets?: readonly Json[]
  readonly setModelResponse?: Json
  readonly [extra: string]: unknown
}

/** The names that chat front ends know these types by (docs/requirements.md, R3). */
export type AdkEventActions = AdkActions
export interface AdkTextPart extends AdkPart {
  readonly text: string
}

/** A summary that replaces the events of a span of time. */
export interface AdkCompaction {
  readonly startTimestamp?: number
  readonly endTimestamp?: number
  readonly compactedContent?: AdkContent
  readonly [extra: string]: unknown
}

export interface AdkUsage {
  readonly promptTokenCount?: number
  readonly candidatesTokenCount?: number
  readonly totalTokenCount?: number
  readonly thoughtsTokenCount?: number
  readonly cachedContentTokenCount?: number
  readonly toolUsePromptTokenCount?: number
  readonly [extra: string]: unknown
}

export interface AdkNodeInfo {
  readonly path?: string
  readonly outputFor?: unknown
  readonly messageAsOutput?: boolean
  readonly [extra: string]: unknown
}

/** Where the model looked: search results and which words they support. */
export interface AdkGrounding {
  readonly groundingChunks?: readonly AdkGroundingChunk[]
  readonly groundingSupports?: readonly AdkGroundingSupport[]
  readonly webSearchQueries?: readonly string[]
  readonly retrievalQueries?: readonly string[]
  readonly searchEntryPoint?: { readonly renderedContent?: string; readonly sdkBlob?: string }
  readonly [extra: string]: unknown
}
export interface AdkGroundingChunk {
  readonly web?: { readonly uri?: string; readonly title?: string; readonly domain?: string }
  readonly retrievedContext?: { readonly uri?: string; readonly title?: string; readonly text?: string }
  readonly [extra: string]: unknown
}
export interface AdkGroundingSupport {
  readonly segment?: { readonly startIndex?: number; readonly endIndex?: number; readonly text?: string }
  readonly groundingChunkIndices?: readonly number[]
  readonly confidenceScores?: readonly number[]
  readonly [extra: string]: unknown
}

export interface AdkCitations {
  readonly citations?: readonly {
    readonly startIndex?: number
    readonly endIndex?: number
    readonly uri?: string
    readonly title?: string
    readonly license?: string
    readonly [extra: string]: unknown
  }[]
  readonly [extra: string]: unknown
}

export interface AdkTranscription {
  readonly text?: string
  readonly finished?: boolean
  readonly [extra: string]: unknown
}
