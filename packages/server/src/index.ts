export { type AdkAgentOptions, adkAgent } from './agent/adk/adk-agent.ts'
export type * from './agent/agent.ts'
export { type AgentCatalog, type DiscoveryOptions, discoverAgents } from './agent/catalog.ts'
export { defineConfig, loadConfig, loadConfigFile, type MillraceConfig } from './agent/config.ts'
export type { IsolateOptions } from './agent/isolate/agent-processes.ts'
export { type GraphAgentFile, graphAgent } from './agent/langgraph/langgraph-agent.ts'
export { type ModelSettings, modelSettings } from './agent/model/settings.ts'
export type { ModelTape, RequestPrint, TapedAnswer, TapedCall } from './agent/model/tape.ts'
export { isNested } from './agent/nested-event.ts'
export { type Explained, explainThrown } from './agent/problem.ts'
export { remoteAgent } from './agent/remote/remote-agent.ts'
export type { RemoteEntry } from './agent/remote/remote-entry.ts'
export { type EmbeddedMillrace, type EmbedOptions, embedMillrace as millrace } from './embed.ts'
export { caseOfLog } from './eval/answers-of-log.ts'
export { caseOfEval, evalOfCase } from './eval/case-adk.ts'
export type { CaseFacts, TurnFacts } from './eval/case-facts.ts'
export {
  type CaseBudget,
  type CaseJudge,
  type CaseTurn,
  type ExpectedTool,
  printCase,
  type RecordedAnswer,
  type RecordedCase,
  type ResponseJudge,
  readCase,
  type TrajectoryMatch,
  type TurnExpectation,
} from './eval/case-file.ts'
export type { CaseFinding } from './eval/case-judge.ts'
export {
  type CaseSetting,
  type CaseTape,
  type CaseVerdict,
  caseTape,
  recordedAs,
  runRecordedCase,
} from './eval/case-run.ts'
export { readEvalSet } from './eval/eval-schema.ts'
export type * from './eval/eval-set.ts'
export type { EvalOwner, EvalStore } from './eval/eval-store.ts'
export { fileEvalStore } from './eval/file-store.ts'
export { type MadeCase, recordCase } from './eval/record-case.ts'
export type { HttpLimits } from './http/deps.ts'
export type { Access } from './http/doors/access.ts'
export type { IdentityAccess, ProxyAccess } from './http/doors/identity.ts'
export type { JwtAccess } from './http/doors/jwt.ts'
export type { MemoryUse } from './http/memory-watch.ts'
export { deleteUser } from './http/operator/delete-user.ts'
export { removeAside } from './http/session/set-aside.ts'
export {
  defaultShares,
  type FairShare,
  type ShareName,
  type Shares,
  type SomeShares,
  shareKinds,
} from './http/shares.ts'
export { type SseResponse, sseResponse } from './http/sse-sink.ts'
export { createMillrace, type Millrace, type MillraceOptions } from './millrace.ts'
export { runEngine } from './run/engine.ts'
export type { RunEngineOptions } from './run/engine-parts.ts'
export { type RunLimits, runLimits } from './run/limits.ts'
export type * from './run/run-engine.ts'
export { type PostgresLog, type PostgresLogOptions, postgresLog, wholePostgres } from './store/postgres/index.ts'
export { type SqliteLog, type SqliteLogOptions, sqliteLog } from './store/sqlite/log.ts'
export { wholeSqlite } from './store/sqlite/whole.ts'
export { type StoreReason, storeReasons } from './store/store-error.ts'
export type { SharedArtifact, SharedValue, StoreCounts, StoredSession, WholeStore } from './store/whole-store.ts'
export type { Sink, StreamEnd } from './stream/reader.ts'
export { type SseFormatOptions, type StreamFormat, sseFormat } from './stream/stream-format.ts'
export { type StreamOptions, type Streams, type StreamsOptions, streams } from './stream/streams.ts'
export type { AuditEntry } from './telemetry/audit.ts'
