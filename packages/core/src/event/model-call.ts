import { isJsonObject } from '../json/json.ts'
import type { Logged, NodeId, RunEvent } from './run-event.ts'

/** Notes in the log that a node is about to call its model. Views and people need not see it; Studio's clients show it. */
export function modelCall(model: string, tools: number, node?: NodeId): Logged {
  return {
    kind: 'log',
    level: 'debug',
    message: `Calling ${model} (tools: ${tools})`,
    data: { model, tools },
    ...(node === undefined ? {} : { node }),
  }
}

export function isModelCall(event: RunEvent): boolean {
  if (event.kind !== 'log' || event.level !== 'debug' || !isJsonObject(event.data)) return false
  const { model, tools } = event.data
  return event.message === `Calling ${String(model)} (tools: ${String(tools)})`
}
