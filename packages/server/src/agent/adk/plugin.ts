import {
  BasePlugin,
  type BaseTool,
  type Context,
  type Event,
  type InvocationContext,
  type LlmRequest,
  type LlmResponse,
} from '@google/adk'
import { defined, isObject, type Json, type JsonObject, nodePath } from '@millrace/core'
import type { ChangedPrompt } from '../changed-prompt.ts'
import { bindRequest } from '../model/binding.ts'
import { messageOf } from '../problem.ts'
import { toolError } from '../tool-result.ts'
import { answerOpenCalls } from './call-repair.ts'
import { ClientSideTool, offerTools } from './client-tool.ts'
import { directPartials } from './direct-partials.ts'
import { modelName } from './model-name.ts'
import { type AdkRun, type Scope, scopeOf } from './scope.ts'
import { parametersOf, wordsOf } from './sent-request.ts'
import { type ToolCalls, toolCalls } from './tool-calls.ts'
import { guardTools, isUnknown, rejectUnknownTool, runOnce, type UnknownToolCounts } from './unknown-tool.ts'

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

/** Millrace's corrections of ADK's behaviour, at the hooks that ADK offers. One instance per run. */
export class MillracePlugin extends BasePlugin {
  readonly #run: AdkRun
  readonly #clientTools: readonly ClientSideTool[]
  readonly #unknownTools: UnknownToolCounts = new Map()
  readonly toolCalls: ToolCalls
  /** The ids of all calls so far. */
  readonly #calls: Set<string>
  #changed: ChangedPrompt | undefined
  constructor(run: AdkRun, parallel: boolean, calls: Iterable<string>) {
    super('millrace')
    this.#calls = new Set(calls)
    this.#changed = run.changedPrompt
    this.#run = run
    this.#clientTools = run.clientTools.map((tool) => new ClientSideTool(tool))
    this.toolCalls = toolCalls(run, parallel)
  }

  /** A resumed run is the same invocation as before: ADK's workflows find what they have done by its id. */
  override async onUserMessageCallback({
    invocationContext,
  }: {
    invocationContext: InvocationContext
  }): Promise<undefined> {
    const id = this.#run.resumption?.invocation
    if (id !== undefined) Reflect.set(invocationContext, 'invocationId', id)
    return undefined
  }

  override async beforeModelCallback({ callbackContext, llmRequest }: ModelCall): Promise<LlmResponse | undefined> {
    const { invocationContext } = callbackContext
    const scope = scopeOf(invocationContext)
    if (scope === undefined) return undefined
    const again = this.repeatedTurn(callbackContext, llmRequest)
    if (again !== undefined) return again
    const over = this.#overLimit(scope)
    if (over !== undefined) return over
    this.#run.silent.add(scope.node)
    bindRequest(llmRequest, {
      settings: this.#run.settings,
      agent: scope.agent?.name ?? '',
      state: json(invocationContext.session.state),
      ...defined({ partials: directPartials(scope, invocationContext.branch) }),
      report: (message) => this.#run.emit({ kind: 'log', level: 'warn', message, ...defined({ node: scope.node }) }),
    })
    // The client's tools and context are for its own conversation, not for that of a specialist.
    if (scope.nested === undefined) {
      offerTools(llmRequest, this.#clientTools)
      instruct(llmRequest, this.#run.instructions)
    }
    answerOpenCalls(llmRequest.contents)
    this.#change(scope, llmRequest)
    this.#begin(scope, llmRequest)
    this.#offer(scope, invocationContext, llmRequest)
    return undefined
  }

  /** Replays the turn that a resumed agent was in the middle of, instead of calling its model again. */
  repeatedTurn({ invocationContext }: Context, llmRequest: LlmRequest): LlmResponse | undefined {
    const scope = scopeOf(invocationContext)
    if (scope === undefined) return undefined
    const again = this.#run.resumption?.turnOf(scope.agent?.name ?? '', invocationContext.branch)
    if (again?.content === undefined) return undefined
    this.#offer(scope, invocationContext, llmRequest)
    return { content: again.content }
  }

  /** Sends what a person gave this call in the place of what ADK has put together. */
  #change({ node = '', nested }: Scope, request: LlmRequest): void {
    const changed = this.#changed
    if (changed?.path !== nodePath(node) || changed.nested !== nested) return
    this.#changed = undefined
    if (changed.system !== undefined) request.config = { ...request.config, systemInstruction: changed.system }
    if (changed.contents !== undefined) request.contents = structuredClone(changed.contents) as never
  }

  /** Records the call. A call of the same agent that is still open has ended: it called no tool. */
  #begin({ node, agent }: Scope, request: LlmRequest): void {
    const { calls, settings, openCalls } = this.#run
    this.#run.endCall(node)
    const open = calls.begin({
      agent: agent?.name ?? '',
      model: modelName(agent, settings, request.model),
      node,
      tools: Object.keys(request.toolsDict).length,
      ...defined({ parameters: parametersOf(request) }),
      words: () => wordsOf(request),
    })
    openCalls.set(node, open)
    this.#run.emit(open.started)
  }

  /** Removes calls from partials: ADK would run them, and again when the aggregate comes (SPEC 1.5). */
  override async afterModelCallback({ llmResponse }: { llmResponse: LlmResponse }): Promise<LlmResponse | undefined> {
    const parts = llmResponse.content?.parts
    if (!parts?.some(({ functionCall }) => functionCall !== undefined)) return undefined
    if (llmResponse.partial !== true) {
      // Changed in place: if a plugin returns a response here, ADK does not call the agent's own callback.
      llmResponse.content = { ...llmResponse.content, parts: parts.map((part) => this.#identified(part)) }
      return undefined
    }
    return {
      ...llmResponse,
      content: { ...llmResponse.content, parts: parts.filter(({ functionCall }) => functionCall === undefined) },
    }
  }

  /**
   * An id must name one call. Small servers number their calls from 0 in every turn, and a canned answer comes back with
   * the id that ADK gave it before. An id that was used already is removed, and ADK makes a new one.
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
      // A long-running tool may have no answer yet, which ADK would take for "not run". So ADK runs it itself.
      return tool.isLongRunning ? undefined : this.toolCalls.confirmed(tool, toolArgs, toolContext)
    }
    const scope = scopeOf(toolContext.invocationContext)
    if (scope === undefined) return undefined
    this.#run.endCall(scope.node)
    if (tool.name === transfer) {
      const refused = this.#badTransfer(scope, toolArgs)
      if (refused !== undefined) return refused
    }
    if (!isUnknown(tool)) this.#unknownTools.delete(scope.node)
    return this.toolCalls.run(tool, toolArgs, toolContext)
  }

  /** ADK swallows the error of a long-running tool; as a result it reaches the model and the log. */
  override async onToolErrorCallback({ error }: ToolCall & { error: Error }): Promise<JsonObject> {
    return toolError(messageOf(error))
  }

  /** Begins a turn: from here on every tool name resolves, and the calls of the turn run in parallel. */
  #offer(scope: Scope, context: InvocationContext, llmRequest: LlmRequest): void {
    this.toolCalls.begin(context, llmRequest.toolsDict)
    const available = Object.keys(llmRequest.toolsDict)
    llmRequest.toolsDict = guardTools(
      llmRequest.toolsDict,
      (name) => rejectUnknownTool(scope, this.#unknownTools, `tool '${name}'`, available),
      (tool) => runOnce(tool, (call) => this.toolCalls.ran(call)),
    )
  }

  /** For a transfer to an unknown agent ADK throws, and then calls the model again, without end. */
  #badTransfer(scope: Scope, { agentName }: Record<string, unknown>): JsonObject | undefined {
    const { agent } = scope
    if (agent === undefined || agent.rootAgent.findAgent(String(agentName)) !== undefined) return undefined
    const near = [...agent.subAgents, ...(agent.parentAgent === undefined ? [] : [agent.parentAgent])]
    return rejectUnknownTool(
      scope,
      this.#unknownTools,
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

/** Runs before the author's plugins, which have already seen the turn that a resumed agent repeats. */
export class RepeatedTurns extends BasePlugin {
  readonly #plugin: MillracePlugin

  constructor(plugin: MillracePlugin) {
    super('millrace-repeated')
    this.#plugin = plugin
  }

  override async beforeModelCallback({ callbackContext, llmRequest }: ModelCall): Promise<LlmResponse | undefined> {
    return this.#plugin.repeatedTurn(callbackContext, llmRequest)
  }
}

function instruct(request: LlmRequest, instructions: readonly string[]): void {
  if (instructions.length === 0) return
  request.config ??= {}
  const { systemInstruction } = request.config
  const before = typeof systemInstruction === 'string' ? [systemInstruction] : []
  request.config.systemInstruction = [...before, ...instructions].join('\n\n')
}

/** The state is JSON by contract. A value that is not JSON fails the run when the event is recorded. */
function json(state: Event['actions']['stateDelta']): JsonObject {
  return state as Record<string, Json>
}

type Confirmation = NonNullable<Context['toolConfirmation']>

/** A person may approve a call with other arguments: `{ confirmed: true, args: { … } }`. */
function amend(toolArgs: Record<string, unknown>, { confirmed, payload }: Confirmation): void {
  const args = isObject(payload) ? payload.args : undefined
  if (confirmed && isObject(args)) Object.assign(toolArgs, args)
}
