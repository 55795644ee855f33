import { isJsonObject } from '../json/json.ts'
import type { RunEvent } from './run-event.ts'

/** Whether the event says that a model is called. Logs of older servers have a debug line in place of `model.started`. */
export function isModelCall(event: RunEvent): boolean {
  return callText(event) !== undefined
}

/** Whether the event only records how a model or a tool was called: clients of other dialects are shown what came of it. */
export function isCallRecord(event: RunEvent): boolean {
  return event.kind === 'model.finished' || event.kind === 'tool.finished' || isModelCall(event)
}

/** The line by which ADK Studio shows that a model is called; undefined for any other event. */
export function callText(event: RunEvent): string | undefined {
  if (event.kind === 'model.started') {
    const { model = 'a model', tools } = event
    return tools === undefined ? `Calling ${model}` : textOf(model, tools)
  }
  if (event.kind !== 'log' || event.level !== 'debug' || !isJsonObject(event.data)) return undefined
  const { model, tools } = event.data
  return event.message === textOf(model, tools) ? event.message : undefined
}

function textOf(model: unknown, tools: unknown): string {
  return `Calling ${String(model)} (tools: ${String(tools)})`
}
