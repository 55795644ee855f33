import {
  type BaseAgent,
  type BaseNode,
  type Event,
  type InvocationContext,
  isBaseAgent,
  isLoopAgent,
  type NodeContext,
} from '@google/adk'
import type { Problem } from '@millrace/core'
import { problemOf } from '../problem.ts'
import { goOn, leaveLoop, skipBeforeCallback } from './go-on.ts'
import { hasContent } from './json-event.ts'
import { inOrder } from './nodes.ts'
import { type Scope, scopeOf, withScope } from './scope.ts'

const traced = new WeakSet<object>()

/**
 * Makes every execution of these agents and workflow nodes a node of the run. ADK 2.0.0 declares `beforeAgentCallback` and
 * `afterAgentCallback` for plugins but never calls them (agents/base_agent.js; pinned in adk-contract.test.ts). So the
 * method that runs an agent or a workflow node is wrapped, once per class that has it. Outside our runs the wrapped
 * method behaves as before.
 */
export function traceNodes(nodes: Iterable<BaseNode>): void {
  for (const node of nodes) {
    if (isBaseAgent(node)) wrapAgents(node)
    else wrapSteps(node)
  }
}

function wrapAgents(agent: BaseAgent): void {
  wrap(agent, 'handleBeforeAgentCallback', skipBeforeCallback)
  wrap(agent, 'runAsync', (run: BaseAgent['runAsync']) => {
    return function (this: BaseAgent, context: InvocationContext) {
      const scope = scopeOf(context)
      // A subclass that calls super.runAsync is one execution, not two.
      if (scope === undefined || scope.agent === this) return run.call(this, context)
      return traceAgent(this, context, scope, run)
    }
  })
}

function wrapSteps(step: BaseNode): void {
  wrap(step, 'run', (run: BaseNode['run']) => {
    return function (this: BaseNode, context: NodeContext, input: unknown) {
      const scope = scopeOf(context.invocationContext)
      // An agent that runs as a workflow's node is traced as an agent.
      if (scope === undefined || isBaseAgent(this)) return run.call(this, context, input)
      return traceStep(this, context, input, scope, run)
    }
  })
}

/** Replaces the method in the class of the object's chain that has it, unless that was done before. */
function wrap<M extends object>(object: object, method: string, make: (original: M) => M): void {
  let owner: object | null = Object.getPrototypeOf(object)
  while (owner !== null && !Object.hasOwn(owner, method)) owner = Object.getPrototypeOf(owner)
  if (owner === null) return
  const original: M = Reflect.get(owner, method)
  if (traced.has(original)) return
  const wrapped = make(original)
  traced.add(wrapped)
  Reflect.set(owner, method, wrapped)
}

async function* traceAgent(
  agent: BaseAgent,
  context: InvocationContext,
  scope: Scope,
  run: BaseAgent['runAsync'],
): AsyncGenerator<Event, void, void> {
  const { nodes, silent, streaming, signal, resumption } = scope.run
  // ADK's pipelines continue with the next agent although a person was asked. That must not happen.
  if (inOrder(scope.agent) && scope.run.isWaiting) {
    if (isLoopAgent(scope.agent)) yield leaveLoop(agent, scope)
    return
  }
  const { answers, ...inside } = scope
  const { id: node, isDone } = nodes.open(agent.name, scope, answers)
  if (isDone) {
    if (resumption?.hadEscalated(node) === true) yield leaveLoop(agent, scope)
    return
  }
  let error: Problem | undefined
  try {
    const progress = resumption?.progressOf(agent.name, context.branch)
    const own = withScope(context, { ...inside, node, agent, begun: progress !== undefined })
    const events = progress === undefined ? run.call(agent, own) : goOn(agent, own, scope, run, progress)
    for await (const event of events) {
      nodes.owns(node, event)
      if (event.author === agent.name) {
        keepOutput(agent, event)
        if (event.errorCode !== undefined) error = problemOf(event)
        if (event.partial !== true) streaming.delete(node)
        else if (hasContent(event)) streaming.add(node)
        if (event.errorCode !== undefined || (event.partial !== true && hasContent(event))) silent.delete(node)
      }
      yield event
    }
    if (silent.has(node) && !signal.aborted) {
      error = streaming.has(node)
        ? modelError(`The model of '${agent.name}' broke off before its answer was complete.`, 'TRUNCATED')
        : modelError(`The model of '${agent.name}' gave an empty answer.`, 'EMPTY')
      scope.fail(error)
    }
  } catch (thrown) {
    error = problemOf(thrown)
    throw thrown
  } finally {
    nodes.close(node, error ?? scope.failure())
  }
}

function modelError(message: string, source: string): Problem {
  return { code: 'model-error', message, source }
}

/** ADK mistakes the tool answer by which an agent leaves a loop for its output, and empties the output key. */
function keepOutput(agent: BaseAgent, event: Event): void {
  const key: unknown = Reflect.get(agent, 'outputKey')
  if (typeof key !== 'string' || event.actions.stateDelta[key] !== '') return
  if (event.content?.parts?.some(({ text }) => text !== undefined) !== true) delete event.actions.stateDelta[key]
}

async function* traceStep(
  step: BaseNode,
  context: NodeContext,
  input: unknown,
  scope: Scope,
  run: BaseNode['run'],
): AsyncGenerator<Event, void, void> {
  const { nodes } = scope.run
  const { agent: _, answers: __, ...outside } = { ...scope, inWorkflow: true }
  const { id: node } = nodes.open(step.name, outside)
  // ADK made this context for this execution only, so it can be changed: its descendants belong to this node.
  Reflect.set(context, 'invocationContext', withScope(context.invocationContext, { ...outside, node }))
  let error: Problem | undefined
  try {
    for await (const event of run.call(step, context, input)) {
      nodes.owns(node, event)
      yield event
    }
  } catch (thrown) {
    error = problemOf(thrown)
    throw thrown
  } finally {
    nodes.close(node, error ?? scope.failure())
  }
}
