import { HumanMessage, SystemMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import type { Task } from '@millrace/core'
import { graphRun, record } from '@millrace/server/langgraph'
import { z } from 'zod'
import type { PlannerState } from './agent.ts'
import { tasksOf } from './execute.ts'
import { llm } from './offline.ts'

type State = typeof PlannerState.State

/** Answers in the conversation; the answer is streamed. */
export async function chat({ messages }: State, config: RunnableConfig) {
  const system = new SystemMessage(
    'You help a person plan a piece of work. Answer briefly, then list the tasks you propose, one per line.',
  )
  return { messages: [await llm.invoke([system, ...messages], config)] }
}

const extracted = z.object({
  tasks: z
    .array(z.object({ title: z.string().min(1).max(500), description: z.string().max(2000).default('') }))
    .max(20),
})

/**
 * Extracts the tasks from the conversation, as structured output, which is not streamed because it is not for people.
 * Without tasks the plan stays as it is. A task that was in the plan already keeps its status.
 */
export async function extractTasks({ messages }: State, config: RunnableConfig) {
  const ask =
    'Extract the tasks of the plan as JSON: {"tasks":[{"title":"…","description":"…"}]}. Answer with JSON only; no tasks: {"tasks":[]}.'
  const conversation = messages.map((message) => `${message.getType()}: ${message.text}`).join('\n')
  const answer = await llm
    .withConfig({ tags: ['nostream'] })
    .invoke([new SystemMessage(ask), new HumanMessage(conversation)], config)
  const { tasks } = extracted.parse(JSON.parse(jsonIn(answer.text)))
  if (tasks.length === 0) return {}
  const { context } = graphRun(config)
  const createdAt = new Date(context.now()).toISOString()
  const before = new Map(tasksOf(config).map((task) => [task.title, task]))
  const list: Task[] = tasks.map(({ title, description }, order) => {
    const known = before.get(title)
    if (known === undefined) return { id: context.newId(), title, description, status: 'pending', order, createdAt }
    const { id, status, createdAt: since = createdAt } = known
    return { id, title, description, status, order, createdAt: since }
  })
  await record({ kind: 'tasks', tasks: list }, config)
  // An entirely new plan: the findings for the last one do not fit it.
  return list.some(({ id }) => [...before.values()].some((task) => task.id === id)) ? {} : { findings: [] }
}

/** Models often put JSON in a code fence, even when instructed not to. */
const jsonIn = (text: string): string => /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(text)?.[1] ?? text
