import { defined, type RunEvent } from '@millrace/core'
import type { GraphNode } from './graph-nodes.ts'
import type { StreamEvent } from './langgraph-agent.ts'
import { toJson } from './state-json.ts'

/** The name of the custom event by which the stream writer reports. */
const writerEvent = 'langgraph.writer'

/**
 * The stream writer of a run. LangGraph's own would put what it is given into the stream without its node, so this one
 * dispatches a custom event instead: LangChain finds the node that runs by itself.
 */
export async function streamWriter(): Promise<(chunk: unknown) => void> {
  const { dispatchCustomEvent } = await import('@langchain/core/callbacks/dispatch')
  return (chunk) => {
    // Outside a node there is no run to report to.
    dispatchCustomEvent(writerEvent, chunk).catch(() => {})
  }
}

/** The name of the custom event by which a node reports a message before it ends. */
export const pushedEvent = 'langgraph.message'

/**
 * LangGraph's `pushMessage` looks for a handler of this name, which only its stream of messages has. The events that we
 * read have none, so this one dispatches the message as a custom event of the node that pushes it.
 */
export async function pushedMessages(): Promise<object> {
  const { dispatchCustomEvent } = await import('@langchain/core/callbacks/dispatch')
  return {
    name: 'StreamMessagesHandler',
    _emit(_place: unknown, message: unknown) {
      dispatchCustomEvent(pushedEvent, { message }).catch(() => {})
    },
  }
}

/** A custom event of the graph's own code, as a record of the log: `custom` is LangGraph's name of the writer's stream. */
export function customRecord({ name, data }: StreamEvent, { node }: GraphNode): RunEvent {
  const message = name === writerEvent ? 'custom' : name
  return {
    kind: 'log',
    level: 'info',
    message,
    ...defined({ data: toJson(data), node: node === '' ? undefined : node }),
  }
}
