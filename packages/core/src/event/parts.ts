import { isObject } from '../json/json.ts'
import type { AdkContent, AdkFunctionCall, AdkFunctionResponse, AdkPart } from './adk-event.ts'

const none: readonly never[] = []

/**
 * The parts that are really there. A log may be restored from an unchecked file, so the types are not certain here: views
 * and encoders read content through these functions and never throw (SPEC 3.1, 5.6).
 */
export function partsOf(content: AdkContent | undefined): readonly AdkPart[] {
  const parts: unknown = content?.parts
  if (!Array.isArray(parts)) return none
  for (const part of parts) if (!isObject(part)) return parts.filter(isObject)
  return parts
}

export function callOf(part: AdkPart): AdkFunctionCall | undefined {
  return isObject(part.functionCall) && typeof part.functionCall.name === 'string' ? part.functionCall : undefined
}

export function responseOf(part: AdkPart): AdkFunctionResponse | undefined {
  const response = part.functionResponse
  return isObject(response) && typeof response.name === 'string' ? response : undefined
}

/** Whether the `error` of a tool's result says that it failed. Many tools always have it: null, false, 0 or empty if all went well. */
export function isToolError(error: unknown): boolean {
  return Boolean(error)
}

export function textOf(part: AdkPart): string {
  return typeof part.text === 'string' ? part.text : ''
}
