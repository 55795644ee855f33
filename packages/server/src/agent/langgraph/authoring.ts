// Everything that the authors of LangGraph graphs import, as `@millrace/server/langgraph`: a chat model over Millrace's
// own models, and `record`, which writes canonical events (tasks, artifacts, data) to the log from inside a node.
export { type ChatCallOptions, type ChatModelOptions, chatModel } from './chat-model.ts'
export { type GraphRun, graphRun, record } from './record.ts'
