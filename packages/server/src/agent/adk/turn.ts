import { type BaseTool, Context, isAgentTool, isFunctionTool, isLlmAgent, type LlmRequest } from '@google/adk'
import { isObject, type JsonObject } from '@millrace/core'
import { messageOf } from '../problem.ts'
import { argsProblem, toolError, toolResult } from '../tool-result.ts'
import type { AdkRun } from './scope.ts'
import { consult } from './specialist.ts'

type ToolContext = ConstructorParameters<typeof Context>[0]['invocationContext']
type Tools = LlmRequest['toolsDict']
type FunctionCall = NonNullable<NonNullable<LlmRequest['contents'][number]['parts']>[number]['functionCall']>

interface Running {
  readonly context: Context
  /** Undefined: a long-running tool that has no answer yet. */
  readonly result: Promise<JsonObject | undefined>
}

/** The calls of the turns of one run, by call id. */
export interface Turns {
  /** Which tools the agent behind this context may call in the turn that begins. */
  begin(context: ToolContext, tools: Tools): void
  /**
   * The answer to one call. ADK asks for them one after the other (agents/functions.js, adk-js#233); the first to be
   * asked for starts all calls of its turn.
   */
  run(tool: BaseTool, args: Record<string, unknown>, toolContext: Context): Promise<JsonObject | undefined>
  /** The answer to a call that a person has approved: that call alone, what was called beside it is answered. */
  confirmed(tool: BaseTool, args: Record<string, unknown>, toolContext: Context): Promise<JsonObject | undefined>
  /** Whether a long-running tool was run already: ADK asks again when there is no answer. */
  ran(call: string | undefined): boolean
  /** Answers of a turn that ADK has thrown away, because one of its tools waits for a confirmation. */
  answered(calls: readonly string[]): Promise<readonly { readonly id: string; readonly response: JsonObject }[]>
}

export function turns(run: AdkRun, parallel: boolean): Turns {
  const offered = new WeakMap<ToolContext, Tools>()
  const running = new Map<string, Running>()

  const start = (tool: BaseTool, call: FunctionCall, context: Context): Running => {
    const result = execute(run, tool, call, context)
    const made = { context, result }
    if (call.id !== undefined) running.set(call.id, made)
    return made
  }

  return {
    begin: (context, tools) => void offered.set(context, tools),
    confirmed: (tool, args, context) =>
      execute(run, tool, { name: tool.name, args, ...idOf(context.functionCallId) }, context),
    ran: (call) => call !== undefined && running.has(call),
    async run(tool, args, toolContext) {
      const { invocationContext, functionCallId } = toolContext
      const known = functionCallId === undefined ? undefined : running.get(functionCallId)
      if (known === undefined) {
        const siblings = callsOfTurn(invocationContext, functionCallId)
        const tools = offered.get(invocationContext) ?? {}
        const asked = siblings.find(({ id }) => id === functionCallId)
        // ADK was given stand-ins (guard.ts); what runs is the agent's own tool.
        const mine = start(
          own(tools, tool.name) ?? tool,
          asked ?? { name: tool.name, args, ...idOf(functionCallId) },
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

/** A model may call a tool `constructor`: what every object has is not a tool. */
function own(tools: Tools, name: string): BaseTool | undefined {
  return Object.hasOwn(tools, name) ? tools[name] : undefined
}

function idOf(id: string | undefined): { id?: string } {
  return id === undefined ? {} : { id }
}

/** The model's call event is in the session by the time its first tool runs. */
function callsOfTurn(context: ToolContext, id: string | undefined): readonly FunctionCall[] {
  const turn = context.session.events.findLast((event) =>
    event.content?.parts?.some(({ functionCall }) => functionCall !== undefined && functionCall.id === id),
  )
  return (turn?.content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? [])
}

/** Runs one tool as ADK would, the agent's own callbacks before it included; never rejects. */
async function execute(
  run: AdkRun,
  tool: BaseTool,
  call: FunctionCall,
  context: Context,
): Promise<JsonObject | undefined> {
  const { signal, stopped, limits } = run
  try {
    const args = call.args ?? {}
    const invalid = Reflect.get(call, 'invalidArgs')
    if (typeof invalid === 'string') {
      return toolError(`The arguments of '${tool.name}' are not a JSON object: ${invalid.slice(0, 200)}`)
    }
    const instead = await beforeTool(tool, args, context)
    if (instead !== undefined) return toolResult(tool.name, instead, limits.maxToolResult)
    const problem = isFunctionTool(tool) ? argsProblem(Reflect.get(tool, 'parameters'), args) : undefined
    if (problem !== undefined) return toolError(`Invalid arguments for '${tool.name}': ${problem}`)
    // AgentTool runs its agent in a black box that loses errors and streams nothing: consult() is what it should do.
    const work = isAgentTool(tool)
      ? consult(agentOf(tool), args, context)
      : tool.runAsync({ args, toolContext: context })
    const value = await Promise.race([work, stopped])
    if (tool.isLongRunning && (value === undefined || value === null)) return undefined
    return toolResult(tool.name, value, limits.maxToolResult)
  } catch (error) {
    return toolError(signal.aborted ? 'The run was stopped.' : messageOf(error))
  }
}

function agentOf(tool: BaseTool): Parameters<typeof consult>[0] {
  return Reflect.get(tool, 'agent')
}

/** What ADK does itself for a call that no plugin answers. A guard must be asked before the tool runs, not after. */
async function beforeTool(tool: BaseTool, args: Record<string, unknown>, context: Context): Promise<unknown> {
  const { agent } = context.invocationContext
  if (!isLlmAgent(agent)) return undefined
  for (const callback of agent.canonicalBeforeToolCallbacks) {
    const response: unknown = await callback({ tool, args, context })
    if (response) return isObject(response) ? response : { result: response }
  }
  return undefined
}

/** The call ran in a context of its own; what it did to state, artifacts and the flow is the asked-for context's. */
function adopt(from: Context, to: Context): void {
  if (from === to) return
  const { stateDelta, artifactDelta, requestedAuthConfigs, requestedToolConfirmations, ...flags } = from.actions
  Object.assign(to.actions.stateDelta, stateDelta)
  Object.assign(to.actions.artifactDelta, artifactDelta)
  Object.assign(to.actions.requestedAuthConfigs, requestedAuthConfigs)
  Object.assign(to.actions.requestedToolConfirmations, requestedToolConfirmations)
  Object.assign(to.actions, flags)
}
