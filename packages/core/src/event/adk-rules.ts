import { isObject } from '../json/json.ts'
import type { AdkEvent, AdkFunctionCall, AdkFunctionResponse } from './adk-event.ts'
import { isPartial } from './streaming.ts'

/** The calls an event makes. A partial makes none: its calls come again, complete, in the aggregate (SPEC 1.5). */
export function functionCallsOf(event: AdkEvent): readonly AdkFunctionCall[] {
  if (isPartial(event)) return []
  return (event.content?.parts ?? []).flatMap((part) => part.functionCall ?? [])
}

export function functionResponsesOf(event: AdkEvent): readonly AdkFunctionResponse[] {
  if (isPartial(event)) return []
  return (event.content?.parts ?? []).flatMap((part) => part.functionResponse ?? [])
}

/**
 * ADK's own rule, from its JS and Python libraries. It is about one step of one agent and can be true several times in a
 * run, for example on the call of a long-running tool while the run goes on. Only `run.finished` ends a run.
 */
export function isFinalResponse({ actions, longRunningToolIds, partial, content }: AdkEvent): boolean {
  if (actions?.skipSummarization === true) return true
  if (longRunningToolIds !== undefined && longRunningToolIds.length > 0) return true
  if (Object.keys(actions?.requestedAuthConfigs ?? {}).length > 0) return true
  if (partial === true) return false
  const parts = content?.parts ?? []
  if (parts.some((part) => part.functionCall !== undefined || part.functionResponse !== undefined)) return false
  return parts.at(-1)?.codeExecutionResult === undefined
}

/** Whether a call asks another agent: an agent as a tool of ADK takes one argument, `request`. */
export function asksAgent({ args }: AdkFunctionCall): boolean {
  return isObject(args) && typeof args.request === 'string' && Object.keys(args).length === 1
}

/** The agent that an event hands control to. Only whole events decide. */
export function transferOf(event: AdkEvent): string | undefined {
  if (isPartial(event)) return undefined
  const target: unknown = event.actions?.transferToAgent
  return typeof target === 'string' && target !== '' ? target : undefined
}

/** The model or the agent failed. ADK reports it in an event that may have no content. */
export function isErrorEvent(event: AdkEvent): boolean {
  return event.errorCode !== undefined || event.errorMessage !== undefined
}
