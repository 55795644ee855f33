import { BaseTool, type LlmRequest, type RunAsyncToolRequest } from '@google/adk'
import type { ClientTool } from '@millrace/core'

/**
 * A tool that the client runs. To ADK it is a long-running tool that never answers: the call goes out, the run ends as
 * interrupted, and the answer comes as the next run's message.
 */
export class ClientSideTool extends BaseTool {
  readonly #parameters: ClientTool['parameters']
  constructor({ name, description, parameters }: ClientTool) {
    super({ name, description, isLongRunning: true })
    this.#parameters = parameters
  }

  override _getDeclaration(): ReturnType<BaseTool['_getDeclaration']> {
    const parametersJsonSchema = this.#parameters ?? { type: 'object', properties: {} }
    return { name: this.name, description: this.description, parametersJsonSchema }
  }

  override async runAsync({ toolContext }: RunAsyncToolRequest): Promise<undefined> {
    // Other tools of the same turn are answered; without this ADK would call the model with one answer missing.
    toolContext.invocationContext.endInvocation = true
  }
}

/** Offers the tools with this request. A tool of the agent's own with the same name wins. */
export function offerTools(request: LlmRequest, tools: readonly ClientSideTool[]): void {
  const offered = tools.filter(({ name }) => !Object.hasOwn(request.toolsDict, name))
  if (offered.length === 0) return
  const functionDeclarations = offered.flatMap((tool) => tool._getDeclaration() ?? [])
  for (const tool of offered) request.toolsDict[tool.name] = tool
  request.config ??= {}
  request.config.tools = [...(request.config.tools ?? []), { functionDeclarations }]
}
