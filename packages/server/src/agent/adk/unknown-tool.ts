import { BaseTool, type LlmRequest, type RunAsyncToolRequest } from '@google/adk'
import type { JsonObject, NodeId } from '@millrace/core'
import { toolError } from '../tool-result.ts'
import type { Scope } from './scope.ts'

type Tools = LlmRequest['toolsDict']

/** For each execution of an agent, how many turns in a row called an unknown tool or agent. */
export type UnknownToolCounts = Map<NodeId | undefined, { readonly turn: number; readonly count: number }>

/**
 * The answer to a call of an unknown tool. ADK 2.0.0 would throw and try again, 500 times (adk-js#789). Here the model
 * gets the list of what is available and may try once more; a second unknown call in a row ends the run.
 */
export function rejectUnknownTool(
  scope: Scope,
  counts: UnknownToolCounts,
  what: string,
  available: readonly string[],
): JsonObject {
  const turn = scope.run.modelCalls.get(scope.node) ?? 0
  const before = counts.get(scope.node)
  const count = before?.turn === turn ? before.count : (before?.count ?? 0) + 1
  counts.set(scope.node, { turn, count })
  const choice = `Available: ${available.join(', ') || 'none'}.`
  if (count > 1) {
    const agent = scope.agent?.name ?? ''
    const message = `The model of '${agent}' called the unknown ${what} again. ${choice}`
    scope.fail({ code: 'model-error', message, source: 'UNKNOWN_TOOL' })
  }
  return toolError(`Unknown ${what}. ${choice}`)
}

class UnknownTool extends BaseTool {
  readonly #answer: () => JsonObject
  constructor(name: string, answer: () => JsonObject) {
    super({ name, description: 'not a tool of this agent' })
    this.#answer = answer
  }
  override async runAsync(): Promise<unknown> {
    return this.#answer()
  }
}

export function isUnknown(tool: BaseTool): boolean {
  return tool instanceof UnknownTool
}

/** Tools under every name: known ones through `wrap`, others as a tool that answers with an error. */
export function guardTools(
  tools: Tools,
  unknown: (name: string) => JsonObject,
  wrap: (tool: BaseTool) => BaseTool,
): Tools {
  return new Proxy(tools, {
    has: () => true,
    get(target, name) {
      if (typeof name !== 'string') return Reflect.get(target, name)
      const tool = Object.hasOwn(target, name) ? target[name] : undefined
      return tool === undefined ? new UnknownTool(name, () => unknown(name)) : wrap(tool)
    },
  })
}

/** ADK runs a long-running tool again when a plugin ran it and it had no answer. This prevents the second run. */
export function runOnce(tool: BaseTool, ran: (call: string | undefined) => boolean): BaseTool {
  if (!tool.isLongRunning) return tool
  const runAsync = async (request: RunAsyncToolRequest): Promise<unknown> =>
    ran(request.toolContext.functionCallId) ? undefined : tool.runAsync(request)
  return new Proxy(tool, {
    get: (target, name) => (name === 'runAsync' ? runAsync : Reflect.get(target, name, target)),
  })
}
