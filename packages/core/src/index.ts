// Public names, in the order of the data path: bytes become JSON and frames, a dialect decodes frames into events, a log
// records events, views fold them, a client follows a log elsewhere. The comment over each group keeps the order: the
// formatter sorts within a group only.

// JSON

export { type Defined, defined } from './json/defined.ts'
export {
  isJsonObject,
  isObject,
  isOpaque,
  type Json,
  type JsonObject,
  maxJsonDepth,
  type PatchOp,
  parseJson,
  sameJson,
} from './json/json.ts'
export { pointerKeys, pointerSegment } from './json/pointer.ts'
export { wellFormed } from './json/well-formed.ts'
export { plainJson } from './json/wide-object.ts'

// Schema: what a reader says of a bad field

export type { FieldError } from './schema/fault.ts'

// Event: the canonical vocabulary

export type * from './event/adk-event.ts'
export { adkRequest, type PendingCalls, pendingCalls } from './event/adk-request.ts'
export { functionCallsOf, functionResponsesOf, isErrorEvent, isFinalResponse } from './event/adk-rules.ts'
export { branchOf, isBelow } from './event/branch.ts'
export type * from './event/call-record.ts'
export type * from './event/change.ts'
export { type FeedbackGiven, type FeedbackTarget, feedbackKey } from './event/feedback.ts'
export { isRecorded, isRunEvent, parseRecorded, whyNotRecorded, whyNotRunEvent } from './event/guard.ts'
export { adkIngest, type Ingested, type IngestOptions } from './event/ingest.ts'
export { callText, isCallRecord, isModelCall } from './event/model-call.ts'
export { nodePath } from './event/node-path.ts'
export { isToolError } from './event/parts.ts'
export { costOf, costsText, costText, listPrices, type ModelPrice, type ModelPrices } from './event/price.ts'
export {
  isProblemCode,
  isUnseenEnd,
  MillraceError,
  type Problem,
  type ProblemCode,
  problemCodes,
  problemIn,
} from './event/problem.ts'
export type * from './event/run-event.ts'
export { type RunWord, runWord, sessionWord } from './event/run-word.ts'
export {
  type FactsFold,
  factsFold,
  noFacts,
  placeText,
  type RunPlace,
  type SessionFacts,
  type StreamBase,
  sessionFacts,
} from './event/session-facts.ts'
export { applyState, patchState, type StateProblem } from './event/state-fold.ts'
export { hasText, isPartial } from './event/streaming.ts'
export { addUsage, usageOf } from './event/usage.ts'

// Frame: one SSE message or line as text

export { type Cursor, printCursor, readCursor } from './frame/cursor.ts'
export type { Frame } from './frame/frame.ts'
export { type Line, type LineReader, ndjsonReader, printLine } from './frame/ndjson.ts'
export { type FrameReader, maxFrameSize, printFrame, printRetry, sseReader } from './frame/sse.ts'

// Dialect: frames to events and back

export { adk } from './dialect/adk/index.ts'
export { agUi } from './dialect/ag-ui/index.ts'
export { type AgUiRequest, type RunAgentInput, readRunAgentInput } from './dialect/ag-ui/input.ts'
export { type AgUiStart, toRunAgentInput } from './dialect/ag-ui/request.ts'
export {
  type AgUiProtocol,
  type Decoder,
  type DecoderOptions,
  type Dialect,
  type Encoder,
  type EncoderOptions,
  withSeq,
} from './dialect/dialect.ts'
export { millrace } from './dialect/millrace/index.ts'
export { printRecorded } from './dialect/millrace/wire.ts'
export { planDialect } from './dialect/plan/index.ts'
export { type DialectName, dialectNames, dialects } from './dialect/registry.ts'
export { studio } from './dialect/studio/index.ts'
export type * from './dialect/studio/trace-event.ts'

// Recording: a file of frames in any dialect

export { type ConvertOptions, convert, convertChunks } from './recording/convert.ts'
export { detectDialect } from './recording/detect.ts'
export { detectFraming, type Framing } from './recording/framing.ts'
export {
  type FrameUnit,
  type PlacedRow,
  placedRecording,
  type RecordingChunks,
  type RecordingOptions,
  readRecording,
} from './recording/recording.ts'
export { type AboutRecording, type Recording, recordingRows, wholeRecording } from './recording/whole.ts'

// Log: the ordered events of a session

export type * from './log/event-log.ts'
export type { ExportHeader, ImportLimits, ImportLine } from './log/export-reader.ts'
export { exportSession, forkSession, type ImportAs, importSession } from './log/history.ts'
export { memoryLog } from './log/memory-log.ts'

// View: pure folds over a log

export type { Printed, Sequence } from './persistent/sequence.ts'
export { callBefore, callsView, modelAnswersOf, modelRequestOf } from './view/calls/index.ts'
export { isSentContent, sentContent } from './view/calls/request.ts'
export { type Call, type Calls, type ModelRequest, unknownModel } from './view/calls/state.ts'
export { feedbackOn, feedbackView } from './view/feedback/index.ts'
export type { Feedback, FeedbackState } from './view/feedback/state.ts'
export { END, type FlowEdge, type FlowKey, type FlowNode, START } from './view/flow/graph.ts'
export { activeNodes, flowView, stateKeys } from './view/flow/index.ts'
export { preview } from './view/flow/preview.ts'
export type { Flow } from './view/flow/state.ts'
export { planView } from './view/plan/index.ts'
export type {
  PlanArtifact,
  PlanCall,
  PlanData,
  PlanMode,
  PlanReflection,
  PlanState,
  PlanTask,
  PlanText,
  TaskChange,
} from './view/plan/state.ts'
export { type Severity, type StreamProblem, type StreamProblemCode, streamProblems } from './view/problems/code.ts'
export { problemsAtEnd, problemsView } from './view/problems/index.ts'
export type { ProblemsState } from './view/problems/state.ts'
export { type CitedSource, citedSources } from './view/proof/cited.ts'
export { type Claim, claimsIn } from './view/proof/claim.ts'
export { countedBy } from './view/proof/counted.ts'
export { type Evidence, type EvidenceFound, evidenceBefore } from './view/proof/evidence.ts'
export type { Basis, Citation, Confidence, Proof, Reasoning, ReasoningStep, Source, Where } from './view/proof/fact.ts'
export { type ClaimFigure, figuresIn } from './view/proof/figure.ts'
export { proofOfCall, proofOfMessage, proofView } from './view/proof/index.ts'
export type { ProofState } from './view/proof/state.ts'
export {
  type ClaimSupport,
  claimSupport,
  type Support,
  type SupportIndex,
  supportIn,
  supportSteps,
} from './view/proof/support.ts'
export { type ViewName, views } from './view/registry.ts'
export { callCost, type ModelSpent, type Spent, spentOn } from './view/spent.ts'
export { type Difference, diffState } from './view/state/diff.ts'
export { stateAt, stateView, type ValueChange, valueHistory } from './view/state/index.ts'
export type { SessionState, StateChange } from './view/state/state.ts'
export { timelineView } from './view/timeline/index.ts'
export { type StateSnapshot, snapshotOf, snapshots } from './view/timeline/snapshots.ts'
export type { Execution, Starting, Timeline, Via } from './view/timeline/state.ts'
export { blocks, itemsOf, openInterrupts, transcriptView } from './view/transcript/index.ts'
export type * from './view/transcript/item.ts'
export type { Block, BlockLane, Lane } from './view/transcript/lane.ts'
export type { RunStatus, Transcript } from './view/transcript/state.ts'
export type { FirstToken } from './view/usage/first-token.ts'
export { usageView } from './view/usage/index.ts'
export type { AgentUsage, Costs, RunUsage, UsageReport } from './view/usage/state.ts'
export { fold, type View } from './view/view.ts'

// ADK chat: an API over ADK events for front ends that keep them in a store of their own

export { Derivation, derivedBy } from './adk-chat/derivation.ts'
export {
  type LegacyEvent,
  type NormalizeResult,
  normalizeAdkEvent,
  normalizeSseBlock,
  type ParsedAdkEvent,
  type ParsedFunctionCall,
  type ParsedFunctionResponse,
  parseAdkEvent,
  parseEventData,
  parseLegacyEvent,
  type SseEventBlock,
} from './adk-chat/parser.ts'
export {
  type AdkChatContent,
  type AdkChatEvent,
  type AgentTransition,
  type ChatMessage,
  type ChatSession,
  type DerivedMessage,
  type RawAdkEvent,
  type SessionEvents,
  selectAgentTransitions,
  selectDerivedMessages,
  selectLatestAgentStatus,
  selectStatusMessages,
  selectThoughtProcesses,
} from './adk-chat/selectors.ts'

// Client: follows a log over HTTP and folds views as rows arrive

export { connect } from './client/connect.ts'
export type { Connection, ConnectionState, ConnectOptions } from './client/connection.ts'
export {
  type FetchAnswer,
  type FetchInit,
  type Host,
  headersFor,
  type RequestHeaders,
  type WebGlobals,
  webHost,
} from './client/host.ts'
export { type LiveLog, liveLog } from './client/live-log.ts'
