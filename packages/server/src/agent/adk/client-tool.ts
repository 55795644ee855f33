import { BaseTool, type LlmRequest, type RunAsyncToolRequest } from '@google/adk'
import type { ClientTool } from '@millrace/core'

/**
 * A tool that the client runs. For ADK it is a long-running tool that never answers: the client receives the call, the
 * run ends as interrupted, and the answer comes as the next run's message.
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
    // Other tools of the same turn have answers; without this ADK would call the model with one answer missing.
    toolContext.invocationContext.endInvocation = true
  }
}

/** Adds the tools to this request, except those whose name a tool of the agent already has. */
export function offerTools(request: LlmRequest, tools: readonly ClientSideTool[]): void {
  const offered = tools.filter(({ name }) => !Object.hasOwn(request.toolsDict, name))
  if (offered.length === 0) return
  const functionDeclarations = offered.flatMap((tool) => tool._getDeclaration() ?? [])
  for (const tool of offered) request.toolsDict[tool.name] = tool
  request.config ??= {}
  request.config.tools = [...(request.config.tools ?? []), { functionDeclarations }]
}
