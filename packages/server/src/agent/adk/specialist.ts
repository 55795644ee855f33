import { AgentTool, type BaseAgent, type Context, createEvent, type Event, isLlmAgent } from '@google/adk'
import { defined, isObject, type JsonObject, type Problem } from '@millrace/core'
import { problemOf } from '../problem.ts'
import { toolError } from '../tool-result.ts'
import { jsonIn } from './json-answer.ts'
import { mergeProof, type ProofLayer, proofLayer } from './proof-layer.ts'
import { type Scope, scopeOf, withScope } from './scope.ts'

type FunctionCall = NonNullable<NonNullable<NonNullable<Event['content']>['parts']>[number]['functionCall']>

/** How deep specialists may consult specialists: as deep as ADK lets nodes nest. */
const maxDepth = 8

/**
 * An agent as a tool of another: `burn_analyst({ request })`. Those that a coordinator calls in one turn work in
 * parallel, and each streams into the coordinator's run under its own name, branch and node. It sees its request and
 * nothing else of the conversation; state is shared. It answers `{ result, proof_layer? }`, or the object its
 * `outputSchema` describes, or `{ error }`.
 */
export function specialist(agent: BaseAgent): AgentTool {
  return new Specialist({ agent })
}

/** `specialist` for each agent. */
export function specialists(agents: readonly BaseAgent[]): AgentTool[] {
  return agents.map(specialist)
}

class Specialist extends AgentTool {
  override async runAsync({ args, toolContext }: Parameters<AgentTool['runAsync']>[0]): Promise<unknown> {
    return consult(Reflect.get(this, 'agent'), args, toolContext)
  }
}

/** Runs `agent` to its end for one function call, and returns the function response for the caller's model. */
export async function consult(agent: BaseAgent, args: Record<string, unknown>, tool: Context): Promise<JsonObject> {
  const { invocationContext: caller, functionCallId: call = '' } = tool
  if (caller.nodeToolDepth >= maxDepth)
    return toolError(`'${agent.name}' was consulted ${maxDepth} levels deep, which is the limit.`)
  const segment = `${agent.name}@${call}`
  const branch = caller.branch === undefined ? segment : `${caller.branch}.${segment}`
  const request = requestOf(agent, args)
  const asked = createEvent({ author: 'user', invocationId: caller.invocationId, branch, content: request })
  const scope = scopeOf(caller)
  const collected = answerCollector()
  const before = scope?.run.resumption?.nestedEvents(call) ?? []
  for (const event of before) collected.take(event)
  // Its own events, but the caller's state: a specialist does not see the conversation, but does see what tools wrote.
  const session = { ...caller.session, events: [asked, ...before] }
  let failure: Problem | undefined
  const own = caller.clone({ agent, session, branch, userContent: request, nodeToolDepth: caller.nodeToolDepth + 1 })
  const context =
    scope === undefined
      ? own
      : withScope(own, {
          ...inside(scope),
          nested: call,
          answers: call,
          failure: () => failure,
          fail(problem) {
            failure ??= problem
          },
        })
  for await (const event of agent.runAsync(context)) {
    const nested: Event = { ...event, branch: event.branch ?? branch, isolationScope: call }
    if (event.partial !== true) await caller.sessionService?.appendEvent({ session, event })
    if (scope === undefined) caller.eventQueue?.push(nested)
    else {
      scope.run.deliver(nested, scope.run.nodes.nodeOf(event))
      scope.run.nodes.delivered(event)
      await scope.run.room()
    }
    collected.take(event)
    if (event.errorCode !== undefined) failure ??= problemOf(event)
    if (failure !== undefined) break
  }
  if (failure !== undefined) return toolError(`'${agent.name}' failed: ${failure.message}`)
  return collected.answer(agent)
}

/** The specialist's nodes are children of the caller's node. */
function inside(scope: Scope): Pick<Scope, 'run' | 'node'> {
  const { run, node } = scope
  return { run, ...defined({ node }) }
}

function requestOf(agent: BaseAgent, args: Record<string, unknown>): NonNullable<Event['content']> {
  const structured = isLlmAgent(agent) && agent.inputSchema !== undefined
  const text = !structured && typeof args.request === 'string' ? args.request : JSON.stringify(args)
  return { role: 'user', parts: [{ text }] }
}

/** Collects from a specialist's events what its answer consists of. */
function answerCollector(): { take(event: Event): void; answer(agent: BaseAgent): JsonObject } {
  let text = ''
  let waiting: string[] = []
  const layers: ProofLayer[] = []
  return {
    take(event) {
      if (event.partial === true) return
      const parts = event.content?.parts ?? []
      const said = parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join('')
      if (said !== '') text = said
      for (const { functionCall } of parts) {
        const id = functionCall?.id
        if (id !== undefined && event.longRunningToolIds?.includes(id)) waiting.push(askedFor(functionCall))
      }
      for (const { functionResponse } of parts) {
        waiting = waiting.filter((name) => name !== functionResponse?.name)
        const layer = proofLayer.safeParse(functionResponse?.response?.proof_layer)
        if (layer.success) layers.push(layer.data)
      }
    },
    answer(agent) {
      if (waiting.length > 0) {
        return toolError(
          `'${agent.name}' needs a person for ${waiting.join(', ')}. A specialist cannot ask a person; give that tool to the agent that consults it.`,
        )
      }
      return answerOf(text, layers)
    },
  }
}

/** The name of the tool that waits; for ADK's own confirmation call, the tool that it is about. */
function askedFor(call: FunctionCall | undefined): string {
  const original = call?.args?.originalFunctionCall
  return String((isObject(original) ? original.name : undefined) ?? call?.name)
}

/** A JSON object is the answer itself (`outputSchema`); other text is the `result`. The tools' evidence is added. */
function answerOf(text: string, layers: readonly ProofLayer[]): JsonObject {
  const proof = mergeProof(layers)
  const structured = jsonIn(text)
  const answer = structured ?? { result: text }
  if (proof === undefined || isObject(answer.proof_layer)) return answer
  return { ...answer, proof_layer: JSON.parse(JSON.stringify(proof)) }
}
