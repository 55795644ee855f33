import {
  type BaseAgent,
  type BaseNode,
  createEvent,
  type Event,
  type InvocationContext,
  isBaseAgent,
  isLoopAgent,
  type NodeContext,
} from '@google/adk'
import type { Problem } from '@millrace/core'
import { problemOf } from '../problem.ts'
import { inOrder } from './nodes.ts'
import { type Scope, scopeOf, withScope } from './scope.ts'

const traced = new WeakSet<object>()

/**
 * ADK 2.0.0 declares `beforeAgentCallback` and `afterAgentCallback` for plugins and never calls them (agents/base_agent.js;
 * pinned in adk-contract.test.ts). So the one method that every agent runs through is wrapped, and for workflow nodes
 * theirs: once per class that has it. Outside our runs it does what it did.
 */
export function traceNodes(nodes: Iterable<BaseNode>): void {
  for (const node of nodes) {
    if (isBaseAgent(node)) wrapAgents(node)
    else wrapSteps(node)
  }
}

function wrapAgents(agent: BaseAgent): void {
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
  const { nodes, silent, signal } = scope.run
  // ADK's pipelines go on with the next agent while a person is asked about this one.
  if (inOrder(scope.agent) && scope.run.isWaiting) {
    if (isLoopAgent(scope.agent))
      yield scope.run.unseen(createEvent({ author: agent.name, actions: { escalate: true } }))
    return
  }
  const { answers, ...inside } = scope
  const node = nodes.open(agent.name, scope, answers)
  if (node === undefined) return
  let error: Problem | undefined
  /** Deltas came, and not yet the whole that ADK keeps. */
  let heard = false
  try {
    if (scope.run.resumption?.hadSpoken(agent.name, context.branch) === true) return
    for await (const event of run.call(agent, withScope(context, { ...inside, node, agent }))) {
      nodes.owns(node, event)
      if (event.author === agent.name) {
        keepOutput(agent, event)
        if (event.errorCode !== undefined) error = problemOf(event)
        heard = event.partial === true && (heard || isSaid(event))
        if (event.errorCode !== undefined || (event.partial !== true && isSaid(event))) silent.delete(node)
      }
      yield event
    }
    if (silent.has(node) && !signal.aborted) {
      error = heard
        ? modelError(`The model of '${agent.name}' broke off before its answer was whole.`, 'TRUNCATED')
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

/** Text that is only white space says nothing; a call, a picture or code does. */
function isSaid({ content }: Event): boolean {
  return content?.parts?.some(({ text }) => text === undefined || /\S/.test(text)) === true
}

/** ADK takes the tool answer by which an agent leaves a loop for its output, and empties the output key. */
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
  const { agent: _, answers: __, ...outside } = { ...scope, anew: true }
  const node = nodes.open(step.name, outside)
  if (node === undefined) return
  // The context is made for this execution: its descendants are found under this node.
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
