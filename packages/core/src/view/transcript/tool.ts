import type { AdkFunctionCall, AdkFunctionResponse } from '../../event/adk-event.ts'
import { isToolError } from '../../event/parts.ts'
import type { Recorded } from '../../event/run-event.ts'
import { isObject, type JsonObject } from '../../json/json.ts'
import type { ToolCard } from './item.ts'

/** The card of a new call. `key` identifies the card even if the call has no id. */
export function called(call: AdkFunctionCall, key: string, row: Recorded, longRunning: boolean): ToolCard {
  return {
    kind: 'tool',
    key,
    call: idOf(call),
    name: call.name,
    ...(isJson(call.args) ? { args: call.args } : {}),
    status: 'pending',
    seq: row.seq,
    at: row.at,
    ...(longRunning ? { longRunning: true } : {}),
  }
}

/** The card with its response. A later response to the same call (of a long-running tool) replaces the earlier one. */
export function answered(card: ToolCard, { response }: AdkFunctionResponse, row: Recorded): ToolCard {
  const error = toolError(response)
  const { error: _old, result: _older, ...rest } = card
  return {
    ...rest,
    status: error === undefined ? 'ok' : 'error',
    ...(isJson(response) ? { result: response } : {}),
    ...(error === undefined ? {} : { error }),
    endSeq: row.seq,
    endedAt: row.at,
    duration: card.status === 'pending' && card.duration !== undefined ? card.duration : Math.max(0, row.at - card.at),
  }
}

/** The card of a response whose call the log does not have. */
export function orphan(response: AdkFunctionResponse, key: string, row: Recorded): ToolCard {
  const card = called({ name: response.name, id: idOf(response) }, key, row, false)
  const { duration: _none, ...rest } = answered(card, response, row)
  return { ...rest, orphan: true }
}

export function idOf({ id }: { readonly id?: unknown }): string {
  return typeof id === 'string' ? id : ''
}

/** ADK turns a tool that throws into `{ error: "…" }`. */
function toolError(response: unknown): string | undefined {
  if (!isObject(response)) return undefined
  const { error } = response
  if (!isToolError(error)) return undefined
  const message = isObject(error) ? error.message : error
  return typeof message === 'string' ? message : 'the tool reported an error'
}

function isJson(value: unknown): value is JsonObject {
  return isObject(value)
}
