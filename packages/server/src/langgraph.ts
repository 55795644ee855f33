// What authors of LangGraph graphs import, as `@millrace/server/langgraph`: a chat model over Millrace's own models,
// and the way to record canonical events (tasks, artifacts, data) from inside a node.
export { type ChatCallOptions, type ChatModelOptions, chatModel } from './agent/langgraph/chat-model.ts'
export { type GraphRun, graphRun, record } from './agent/langgraph/record.ts'
