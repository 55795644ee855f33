import { isObject, type Json, MillraceError, type NodeId, type RunEvent } from '@millrace/core'
import type { Snapshot } from './langgraph-agent.ts'

/** A question that a graph waits with. */
export interface GraphInterrupt {
  readonly id?: string
  readonly value?: unknown
}

/** The questions of a graph, each with LangGraph's name for the task that asked. */
export function openQuestions({
  tasks = [],
}: Snapshot): readonly { readonly task: string; readonly asked: GraphInterrupt }[] {
  return tasks.flatMap(({ name, id = '', interrupts = [] }) =>
    interrupts.map((asked) => ({ task: `${name}:${id}`, asked })),
  )
}

/**
 * The id under which a question is asked. LangGraph gives the second `interrupt()` of a task the id of the first, so
 * that an answer which comes late or twice would answer the next question: each further one gets a number, `id~2`.
 */
export function askedAs(id: string, answered: Iterable<string>): string {
  const before = new Set([...answered].filter((each) => graphIdOf(each) === id)).size
  return before === 0 ? id : `${id}~${before + 1}`
}

/** LangGraph's own id of a question. */
export const graphIdOf = (id: string): string => id.replace(/~\d+$/, '')

const breakpoint = 'breakpoint-'

/** The id of the stop at `interruptBefore` or `interruptAfter`; undefined when the graph does not stop there. */
export function breakpointOf(state: Snapshot): string | undefined {
  const { next = [], config } = state
  if (next.length === 0 || openQuestions(state).length > 0) return undefined
  return `${breakpoint}${String(config?.configurable?.checkpoint_id ?? next.join('-'))}`
}

export function breakpointEvent(id: string, { next = [] }: Snapshot): RunEvent {
  const message = `The graph has stopped before ${next.join(', ')}. Continue?`
  return { kind: 'interrupt', id, reason: 'confirmation', message, payload: { next: [...next] } }
}

/**
 * `interrupt({ reason, message, schema, … })` in a node sets these fields; any other value is the message itself.
 * LangChain's human-in-the-loop middleware asks for decisions, and describes each of its actions.
 */
export function interruptEvent({ id, value }: GraphInterrupt, node: NodeId | undefined): RunEvent {
  if (id === undefined)
    throw new MillraceError('agent-error', 'the graph was interrupted without an id: use a newer @langchain/langgraph')
  const asked = isObject(value) ? value : { message: value }
  const text = asked.message ?? asked.question ?? asked.prompt ?? reviewText(asked)
  return {
    kind: 'interrupt',
    id,
    reason: typeof asked.reason === 'string' ? asked.reason : 'input_required',
    ...(typeof text === 'string' ? { message: text } : {}),
    ...(typeof asked.schema === 'object' && asked.schema !== null ? { schema: asked.schema as never } : {}),
    ...(node === undefined ? {} : { node }),
    payload: JSON.parse(JSON.stringify(value ?? null)) as Json,
  }
}

function reviewText(asked: Readonly<Record<string, unknown>>): string | undefined {
  const requests = asked.action_requests ?? asked.actionRequests
  if (!Array.isArray(requests)) return undefined
  const names = requests.flatMap((each) => (isObject(each) && typeof each.name === 'string' ? [each.name] : []))
  return names.length === 0 ? undefined : `May the agent use ${names.join(', ')}?`
}
