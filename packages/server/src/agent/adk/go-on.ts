import {
  type BaseAgent,
  createEvent,
  type Event,
  type InvocationContext,
  isLlmAgent,
  isLoopAgent,
  isParallelAgent,
  isSequentialAgent,
} from '@google/adk'
import type { NodeProgress } from './resume.ts'
import { type Scope, scopeOf } from './scope.ts'

type Callback = (context: InvocationContext) => Promise<Event | undefined>

/** An event that ends the loop around the agent; it only steers ADK. */
export function leaveLoop({ name }: BaseAgent, { run }: Scope): Event {
  return run.unseen(createEvent({ author: name, actions: { escalate: true } }))
}

/**
 * The rest of an execution that a crash cut short. An agent with a model continues from the session's events, unless its
 * answer was whole; then only its callback after it is missing. A pipeline runs again, and skips what is done. So does an
 * agent of another class that has sub-agents, and the events that it yielded before are left out.
 */
export async function* goOn(
  agent: BaseAgent,
  context: InvocationContext,
  scope: Scope,
  run: BaseAgent['runAsync'],
  progress: NodeProgress,
): AsyncGenerator<Event, void, void> {
  const { answered, closed, transfer, escalated } = progress
  const next = transfer === undefined ? undefined : agent.rootAgent.findAgent(transfer)
  const speaks = isLlmAgent(agent) || agent.subAgents.length === 0
  if (speaks && (answered || next !== undefined)) {
    if (next !== undefined) yield* next.runAsync(context)
    const last = closed ? undefined : await afterAgent(agent, context)
    if (last !== undefined) yield last
    if (escalated) yield leaveLoop(agent, scope)
  } else if (isLlmAgent(agent)) yield* run.call(agent, context)
  else if (isSequentialAgent(agent) || isParallelAgent(agent) || isLoopAgent(agent)) {
    if (!answered) yield* run.call(agent, context)
  } else yield* replayed(agent, context, scope, run, progress.events)
}

async function* replayed(
  agent: BaseAgent,
  context: InvocationContext,
  scope: Scope,
  run: BaseAgent['runAsync'],
  before: readonly string[],
): AsyncGenerator<Event, void, void> {
  const { session } = context
  session.events = session.events.filter(({ id }) => !before.includes(id))
  let left = before.length
  for await (const event of run.call(agent, context)) {
    const isOld = event.author === agent.name && event.partial !== true && left > 0
    if (isOld) left -= 1
    yield isOld ? scope.run.unseen(event) : event
  }
}

/** ADK keeps what surrounds an agent's execution to itself; it is called here for an agent that is not run again. */
function afterAgent(agent: BaseAgent, context: InvocationContext): Promise<Event | undefined> {
  const own: InvocationContext = Reflect.get(agent, 'createInvocationContext').call(agent, context)
  const callback: Callback = Reflect.get(agent, 'handleAfterAgentCallback')
  return callback.call(agent, own)
}

/** The callback before the agent has run when an execution goes on after a crash. */
export function skipBeforeCallback(callback: Callback): Callback {
  return async function (this: BaseAgent, context: InvocationContext) {
    const scope = scopeOf(context)
    const isOver = scope?.begun === true && scope.agent === this && !isReplayed(this)
    return isOver ? undefined : callback.call(this, context)
  }
}

function isReplayed(agent: BaseAgent): boolean {
  return !(isLlmAgent(agent) || isSequentialAgent(agent) || isParallelAgent(agent) || isLoopAgent(agent))
}
