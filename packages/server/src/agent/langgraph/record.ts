import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch'
import type { RunnableConfig } from '@langchain/core/runnables'
import { isObject, type RunEvent, type RunInput } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { recordEvent } from './graph-events.ts'

/** Records a canonical event from inside a node, in order with the graph's other events. */
export async function record(event: RunEvent, config: RunnableConfig): Promise<void> {
  await dispatchCustomEvent(recordEvent, event, config)
}

export interface GraphRun {
  readonly input: RunInput
  readonly context: RunContext
}

/** The run a node is part of: its input, and the session's history and state. */
export function graphRun(config: RunnableConfig): GraphRun {
  const given: unknown = config.configurable?.millrace
  if (!isObject(given)) throw new Error('graphRun() works only in a graph that Millrace runs')
  return given as unknown as GraphRun
}
