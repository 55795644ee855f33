export type * from './agent/agent.ts'
export { type GraphAgentFile, graphAgent } from './agent/langgraph/langgraph-agent.ts'
export type * from './engine/run-engine.ts'
export { type AppDeps, createApp } from './http/app.ts'
