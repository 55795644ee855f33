import { type BaseTool, Context, isAgentTool, isFunctionTool, isLlmAgent, type LlmRequest } from '@google/adk'
import { defined, isObject, type JsonObject } from '@millrace/core'
import { thrownAt } from '../author-place.ts'
import { messageOf } from '../problem.ts'
import { argsProblem, isFailedResult, toolError, toolResult } from '../tool-result.ts'
import { type AdkRun, scopeOf } from './scope.ts'
import { consult } from './specialist.ts'
import { watchTool } from './tool-throw.ts'

type ToolContext = ConstructorParameters<typeof Context>[0]['invocationContext']
type Tools = LlmRequest['toolsDict']
type FunctionCall = NonNullable<NonNullable<LlmRequest['contents'][number]['parts']>[number]['functionCall']>

interface Running {
  readonly context: Context
  /** Undefined: a long-running tool that has no answer yet. */
  readonly result: Promise<JsonObject | undefined>
}

/** Runs the tool calls of one run, those of one model turn in parallel. */
export interface ToolCalls {
  /** Begins a model turn: these are the tools that the agent of this context may call in it. */
  begin(context: ToolContext, tools: Tools): void
  /**
   * The answer to one call. ADK asks for the answers one after the other (agents/functions.js, adk-js#233); the first
   * request starts all calls of its turn.
   */
  run(tool: BaseTool, args: Record<string, unknown>, toolContext: Context): Promise<JsonObject | undefined>
  /** The answer to a call that a person has approved. Only this call runs: the others of its turn have answers. */
  confirmed(tool: BaseTool, args: Record<string, unknown>, toolContext: Context): Promise<JsonObject | undefined>
  /** Whether this call was run already: ADK asks again when a long-running tool has no answer. */
  ran(call: string | undefined): boolean
  /** The answers that ADK discarded because another tool of the turn waits for a confirmation. */
  answered(calls: readonly string[]): Promise<readonly { readonly id: string; readonly response: JsonObject }[]>
}

export function toolCalls(run: AdkRun, parallel: boolean): ToolCalls {
  const offered = new WeakMap<ToolContext, Tools>()
  const running = new Map<string, Running>()

  const start = (tool: BaseTool, call: FunctionCall, context: Context): Running => {
    const result = recorded(run, tool, call, context)
    const made = { context, result }
    if (call.id !== undefined) running.set(call.id, made)
    return made
  }

  return {
    begin: (context, tools) => void offered.set(context, tools),
    confirmed: (tool, args, context) =>
      recorded(run, tool, { name: tool.name, args, ...defined({ id: context.functionCallId }) }, context),
    ran: (call) => call !== undefined && running.has(call),
    async run(tool, args, toolContext) {
      const { invocationContext, functionCallId } = toolContext
      const known = functionCallId === undefined ? undefined : running.get(functionCallId)
      if (known === undefined) {
        const siblings = callsOfTurn(invocationContext, functionCallId)
        const tools = offered.get(invocationContext) ?? {}
        const asked = siblings.find(({ id }) => id === functionCallId)
        // ADK's tool may be a wrapper (see guardTools); the agent's own tool is the one to run.
        const mine = start(
          own(tools, tool.name) ?? tool,
          asked ?? { name: tool.name, args, ...defined({ id: functionCallId }) },
          toolContext,
        )
        for (const call of parallel ? siblings : []) {
          if (call.id === undefined || running.has(call.id) || call.name === undefined) continue
          const sibling = own(tools, call.name)
          if (sibling === undefined) continue
          start(sibling, call, new Context({ invocationContext, functionCallId: call.id }))
        }
        return mine.result
      }
      const result = await known.result
      adopt(known.context, toolContext)
      return result
    },
    async answered(calls) {
      const made = calls.map(async (id) => ({ id, response: await running.get(id)?.result }))
      return (await Promise.all(made)).flatMap(({ id, response }) => (response === undefined ? [] : [{ id, response }]))
    },
  }
}

/** Only own properties are tools: a model may call `constructor`. */
function own(tools: Tools, name: string): BaseTool | undefined {
  return Object.hasOwn(tools, name) ? tools[name] : undefined
}

/** The calls of the model turn that made this call. Its event is in the session before the first tool runs. */
function callsOfTurn(context: ToolContext, id: string | undefined): readonly FunctionCall[] {
  const turn = context.session.events.findLast((event) =>
    event.content?.parts?.some(({ functionCall }) => functionCall !== undefined && functionCall.id === id),
  )
  return (turn?.content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? [])
}

/** Runs one tool, and records when it began and ended. One that has no answer yet has not ended. */
async function recorded(
  run: AdkRun,
  tool: BaseTool,
  call: FunctionCall,
  context: Context,
): Promise<JsonObject | undefined> {
  // Only a call that is in the log keeps its id after a crash.
  if (!isAgentTool(tool)) await Promise.race([run.recorded(), run.stopped]).catch(() => undefined)
  const since = run.now()
  const result = await execute(run, tool, call, context)
  if (result !== undefined && call.id !== undefined && !run.signal.aborted) {
    const node = scopeOf(context.invocationContext)?.node
    run.emit(run.calls.tool(call.id, tool.name, since, isFailedResult(result), node))
  }
  return result
}

/** Runs one tool as ADK would, including the agent's own callbacks before it. Never rejects. */
async function execute(
  run: AdkRun,
  tool: BaseTool,
  call: FunctionCall,
  context: Context,
): Promise<JsonObject | undefined> {
  const { signal, stopped, limits } = run
  const watched = watchTool(tool)
  try {
    signal.throwIfAborted()
    const args = call.args ?? {}
    const invalid = Reflect.get(call, 'invalidArgs')
    if (typeof invalid === 'string') {
      return toolError(`The arguments of '${tool.name}' are not a JSON object: ${invalid.slice(0, 200)}`)
    }
    const guarded = await beforeTool(tool, args, context)
    if (guarded !== undefined) return toolResult(tool.name, guarded, limits.maxToolResult)
    const problem = isFunctionTool(tool) ? argsProblem(Reflect.get(tool, 'parameters'), args) : undefined
    if (problem !== undefined) return toolError(`Invalid arguments for '${tool.name}': ${problem}`)
    // AgentTool itself would lose errors and stream nothing, so consult() runs its agent.
    const work = isAgentTool(tool)
      ? consult(agentOf(tool), args, context)
      : watched.tool.runAsync({ args, toolContext: context })
    const value = await Promise.race([work, stopped])
    if (tool.isLongRunning && (value === undefined || value === null)) return undefined
    return toolResult(tool.name, value, limits.maxToolResult)
  } catch (error) {
    if (signal.aborted) return toolError('The run was stopped.')
    const message = messageOf(error)
    const thrown = thrownAt(watched.thrown() ?? error, `the tool ${tool.name}`, message)
    if (thrown !== undefined) run.emit(thrown)
    return afterError(tool, call, context, error, limits.maxToolResult).catch(() => toolError(message))
  }
}

/** The answer of an author's plugin to an error (`onToolErrorCallback`). Our own plugin is the last, and answers with the error. */
async function afterError(
  tool: BaseTool,
  call: FunctionCall,
  context: Context,
  thrown: unknown,
  maxResult: number,
): Promise<JsonObject> {
  const error = thrown instanceof Error ? thrown : new Error(messageOf(thrown))
  const { pluginManager } = context.invocationContext
  const given: unknown = await pluginManager.runOnToolErrorCallback({
    tool,
    toolArgs: call.args ?? {},
    toolContext: context,
    error,
  })
  return given === undefined ? toolError(messageOf(error)) : toolResult(tool.name, given, maxResult)
}

function agentOf(tool: BaseTool): Parameters<typeof consult>[0] {
  return Reflect.get(tool, 'agent')
}

/** Calls the agent's `beforeToolCallback`s, as ADK does for a call that no plugin answers: a guard must run first. */
async function beforeTool(tool: BaseTool, args: Record<string, unknown>, context: Context): Promise<unknown> {
  const { agent } = context.invocationContext
  if (!isLlmAgent(agent)) return undefined
  for (const callback of agent.canonicalBeforeToolCallbacks) {
    const response: unknown = await callback({ tool, args, context })
    if (response) return isObject(response) ? response : { result: response }
  }
  return undefined
}

/** Copies what a call did to state, artifacts and flow: it ran in another context than the one ADK passes now. */
function adopt(from: Context, to: Context): void {
  if (from === to) return
  const { stateDelta, artifactDelta, requestedAuthConfigs, requestedToolConfirmations, ...flags } = from.actions
  Object.assign(to.actions.stateDelta, stateDelta)
  Object.assign(to.actions.artifactDelta, artifactDelta)
  Object.assign(to.actions.requestedAuthConfigs, requestedAuthConfigs)
  Object.assign(to.actions.requestedToolConfirmations, requestedToolConfirmations)
  Object.assign(to.actions, flags)
}
