import {
  BasePlugin,
  type BaseTool,
  type Context,
  type Event,
  type InvocationContext,
  type LlmRequest,
  type LlmResponse,
} from '@google/adk'
import { isObject, type Json, type JsonObject } from '@millrace/core'
import { bindRequest } from '../model/binding.ts'
import { toolError } from '../tool-result.ts'
import { answerOpenCalls } from './call-repair.ts'
import { ClientSideTool, offerTools } from './client-tool.ts'
import { type AdkRun, type Scope, scopeOf } from './scope.ts'
import { type Turns, turns } from './turn.ts'
import { guardTools, isUnknown, runOnce, type Strikes, strike } from './unknown-tool.ts'

type Part = NonNullable<NonNullable<LlmResponse['content']>['parts']>[number]

interface ModelCall {
  readonly callbackContext: Context
  readonly llmRequest: LlmRequest
}
interface ToolCall {
  readonly tool: BaseTool
  readonly toolArgs: Record<string, unknown>
  readonly toolContext: Context
}

const transfer = 'transfer_to_agent'

/** Everything that makes ADK behave, in the places that ADK offers for it. One per run. */
export class MillracePlugin extends BasePlugin {
  readonly #run: AdkRun
  readonly #clientTools: readonly ClientSideTool[]
  readonly #strikes: Strikes = new Map()
  readonly turns: Turns
  /** Ids of the calls there have been. */
  readonly #calls: Set<string>
  constructor(run: AdkRun, parallel: boolean, calls: Iterable<string>) {
    super('millrace')
    this.#calls = new Set(calls)
    this.#run = run
    this.#clientTools = run.clientTools.map((tool) => new ClientSideTool(tool))
    this.turns = turns(run, parallel)
  }

  override async beforeModelCallback({ callbackContext, llmRequest }: ModelCall): Promise<LlmResponse | undefined> {
    const { invocationContext } = callbackContext
    const scope = scopeOf(invocationContext)
    if (scope === undefined) return undefined
    const again = this.#run.resumption?.turnOf(scope.agent?.name ?? '', invocationContext.branch)
    if (again?.content !== undefined) {
      this.#offer(scope, invocationContext, llmRequest)
      return { content: again.content }
    }
    const over = this.#overLimit(scope)
    if (over !== undefined) return over
    this.#run.silent.add(scope.node)
    bindRequest(llmRequest, {
      settings: this.#run.settings,
      agent: scope.agent?.name ?? '',
      state: json(invocationContext.session.state),
    })
    // A specialist's conversation is not the client's: neither its tools nor its context belong there.
    if (scope.nested === undefined) {
      offerTools(llmRequest, this.#clientTools)
      instruct(llmRequest, this.#run.instructions)
    }
    answerOpenCalls(llmRequest.contents)
    this.#offer(scope, invocationContext, llmRequest)
    return undefined
  }

  /** A call in a partial is a call half-streamed: ADK would run it, and again when it comes whole (SPEC 1.5). */
  override async afterModelCallback({ llmResponse }: { llmResponse: LlmResponse }): Promise<LlmResponse | undefined> {
    const parts = llmResponse.content?.parts
    if (!parts?.some(({ functionCall }) => functionCall !== undefined)) return undefined
    if (llmResponse.partial !== true) {
      // In place: what a plugin returns here would keep the agent's own callback from being asked.
      llmResponse.content = { ...llmResponse.content, parts: parts.map((part) => this.#identified(part)) }
      return undefined
    }
    return {
      ...llmResponse,
      content: { ...llmResponse.content, parts: parts.filter(({ functionCall }) => functionCall === undefined) },
    }
  }

  /**
   * Small servers number their calls from 0 in every turn, and a canned answer comes back with the id that ADK gave it
   * before; an id names one call. One that was there already is taken away, and ADK gives another.
   */
  #identified<P extends Part>(part: P): P {
    const { functionCall } = part
    if (functionCall === undefined) return part
    const { id, ...call } = functionCall
    if (id === undefined || id === '' || id.startsWith('adk-') || this.#calls.has(id))
      return { ...part, functionCall: call }
    this.#calls.add(id)
    return { ...part, functionCall: { ...functionCall } }
  }

  override async beforeToolCallback({ tool, toolArgs, toolContext }: ToolCall): Promise<JsonObject | undefined> {
    if (toolContext.toolConfirmation !== undefined) {
      amend(toolArgs, toolContext.toolConfirmation)
      // A long-running tool may have no answer yet, and ADK would take that for "not run": so ADK runs it.
      return tool.isLongRunning ? undefined : this.turns.confirmed(tool, toolArgs, toolContext)
    }
    const scope = scopeOf(toolContext.invocationContext)
    if (scope === undefined) return undefined
    if (tool.name === transfer) {
      const refused = this.#badTransfer(scope, toolArgs)
      if (refused !== undefined) return refused
    }
    if (!isUnknown(tool)) this.#strikes.delete(scope.node)
    return this.turns.run(tool, toolArgs, toolContext)
  }

  /** ADK swallows the error of a long-running tool; told as a result it reaches the model and the log. */
  override async onToolErrorCallback({ error }: ToolCall & { error: Error }): Promise<JsonObject> {
    return toolError(error.message)
  }

  /** From here on every tool name exists, and the calls of the turn that begins run together. */
  #offer(scope: Scope, context: InvocationContext, llmRequest: LlmRequest): void {
    this.turns.begin(context, llmRequest.toolsDict)
    const there = Object.keys(llmRequest.toolsDict)
    llmRequest.toolsDict = guardTools(
      llmRequest.toolsDict,
      (name) => strike(scope, this.#strikes, `tool '${name}'`, there),
      (tool) => runOnce(tool, (call) => this.turns.ran(call)),
    )
  }

  /** ADK throws for an agent that is not there, and then calls the model again, without end. */
  #badTransfer(scope: Scope, { agentName }: Record<string, unknown>): JsonObject | undefined {
    const { agent } = scope
    if (agent === undefined || agent.rootAgent.findAgent(String(agentName)) !== undefined) return undefined
    const near = [...agent.subAgents, ...(agent.parentAgent === undefined ? [] : [agent.parentAgent])]
    return strike(
      scope,
      this.#strikes,
      `agent '${String(agentName)}'`,
      near.map(({ name }) => name),
    )
  }

  #overLimit(scope: Scope): LlmResponse | undefined {
    const { modelCalls, limits } = this.#run
    const own = (modelCalls.get(scope.node) ?? 0) + 1
    modelCalls.set(scope.node, own)
    const all = [...modelCalls.values()].reduce((sum, calls) => sum + calls, 0)
    if (own <= limits.maxLlmCalls && all <= limits.maxLlmCallsPerRun) return undefined
    const agent = scope.agent?.name ?? ''
    const message =
      own > limits.maxLlmCalls
        ? `'${agent}' called its model ${limits.maxLlmCalls} times without an end: it may be in a loop. The limit is maxLlmCalls.`
        : `The run made ${limits.maxLlmCallsPerRun} model calls. The limit is maxLlmCallsPerRun.`
    scope.fail({ code: 'limit', message })
    return { errorCode: 'LIMIT', errorMessage: message }
  }
}

function instruct(request: LlmRequest, instructions: readonly string[]): void {
  if (instructions.length === 0) return
  request.config ??= {}
  const { systemInstruction } = request.config
  const before = typeof systemInstruction === 'string' ? [systemInstruction] : []
  request.config.systemInstruction = [...before, ...instructions].join('\n\n')
}

/** The state is JSON by contract; what a tool put there against it fails when the event is recorded. */
function json(state: Event['actions']['stateDelta']): JsonObject {
  return state as Record<string, Json>
}

type Confirmation = NonNullable<Context['toolConfirmation']>

/** A person may approve a call with other arguments: `{ confirmed: true, args: { … } }`. */
function amend(toolArgs: Record<string, unknown>, { confirmed, payload }: Confirmation): void {
  const args = isObject(payload) ? payload.args : undefined
  if (confirmed && isObject(args)) Object.assign(toolArgs, args)
}
