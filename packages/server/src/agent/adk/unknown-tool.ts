import { BaseTool, type LlmRequest, type RunAsyncToolRequest } from '@google/adk'
import type { JsonObject, NodeId } from '@millrace/core'
import { toolError } from '../tool-result.ts'
import type { Scope } from './scope.ts'

type Tools = LlmRequest['toolsDict']

/** In how many turns, one after the other, each execution of an agent has asked for something that is not there. */
export type Strikes = Map<NodeId | undefined, { readonly turn: number; readonly count: number }>

/**
 * A model that calls a tool which does not exist makes ADK 2.0.0 throw, and try again, 500 times (adk-js#789). Here it
 * is told what there is, and may try once more; the second time in a row ends the run.
 */
export function strike(scope: Scope, strikes: Strikes, what: string, there: readonly string[]): JsonObject {
  const turn = scope.run.modelCalls.get(scope.node) ?? 0
  const before = strikes.get(scope.node)
  const count = before?.turn === turn ? before.count : (before?.count ?? 0) + 1
  strikes.set(scope.node, { turn, count })
  const message = `There is no ${what}. There is: ${there.join(', ') || 'none'}.`
  if (count > 1) {
    const agent = scope.agent?.name ?? ''
    const told = `The model of '${agent}' called ${what} again, after it was told that there is none.`
    scope.fail({
      code: 'model-error',
      message: `${told} There is: ${there.join(', ') || 'none'}.`,
      source: 'UNKNOWN_TOOL',
    })
  }
  return toolError(message)
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

/** Every name is there: known ones as they are, others as a tool that says so. `wrap` stands in for each known one. */
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

/** ADK asks a long-running tool again when a plugin ran it and it had no answer: it must not run twice. */
export function runOnce(tool: BaseTool, ran: (call: string | undefined) => boolean): BaseTool {
  if (!tool.isLongRunning) return tool
  const runAsync = async (request: RunAsyncToolRequest): Promise<unknown> =>
    ran(request.toolContext.functionCallId) ? undefined : tool.runAsync(request)
  return new Proxy(tool, {
    get: (target, name) => (name === 'runAsync' ? runAsync : Reflect.get(target, name, target)),
  })
}
