import { HumanMessage, SystemMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { defined, type PlanTask, type TaskEdit } from '@millrace/core'
import { graphRun, record } from '@millrace/server/langgraph'
import { z } from 'zod'
import type { PlannerState } from './agent.ts'
import { tasksNow, tasksOf } from './execute.ts'
import { llm } from './offline.ts'

type State = typeof PlannerState.State

/** Answers in the conversation; the answer is streamed. */
export async function chat({ messages }: State, config: RunnableConfig) {
  const system = new SystemMessage(
    `You help a person plan a piece of work. Any request is something to plan: answer briefly, then list the tasks you propose, one per line.
The person may have edited the plan since you last spoke. It is theirs: keep its tasks and their wording, and change only what the last message asks for.
A task that was proposed earlier and is not in the plan was taken out by the person: do not propose it again.
The plan as it is now:
${JSON.stringify(tasksOf(config).map(shown))}`,
  )
  return { messages: [await llm.invoke([system, ...messages], config)] }
}

/** What the model sees of a task. */
const shown = ({ id, title, description = '', status }: PlanTask) => ({ id, title, description, status })

const title = z.string().trim().min(1).max(500)
const description = z.string().max(2000)
const planChanges = z.object({
  add: z
    .array(z.object({ title, description: description.default('') }))
    .max(100)
    .default([]),
  update: z
    .array(z.object({ id: z.string(), title: title.optional(), description: description.optional() }))
    .max(100)
    .default([]),
  remove: z.array(z.string()).max(1000).default([]),
})

/**
 * Extracts what the conversation changes in the plan, as structured output, which is not streamed because it is not for
 * people. The model gets the tasks as they are and names them by id, so that an edit by a person is never undone by a
 * list that the model remembers.
 */
export async function extractTasks({ messages }: State, config: RunnableConfig) {
  const tasks = tasksOf(config)
  const ask = `Extract what the last answer changes in the plan, as JSON:
{"add":[{"title":"…","description":"…"}],"update":[{"id":"…","title":"…","description":"…"}],"remove":["id"]}
"tasks" are the tasks as they are now. Name them by their id. Tasks that you do not name stay as they are. Never add a task that is there already, nor one that only an earlier answer proposes: the person has taken it out.
Answer with JSON only; nothing changes: {}.`
  const conversation = messages.map((message) => ({ role: message.getType(), text: message.text }))
  const answer = await llm
    .withConfig({ tags: ['nostream'] })
    .invoke(
      [new SystemMessage(ask), new HumanMessage(JSON.stringify({ tasks: tasks.map(shown), conversation }))],
      config,
    )
  const read = changesIn(answer.text)
  if (read === undefined) {
    const message = 'The model did not answer with changes of the plan, so the plan stays as it is.'
    await record({ kind: 'log', level: 'warn', message }, config)
    return {}
  }
  const { context } = graphRun(config)
  const createdAt = new Date(context.now()).toISOString()
  const shownAs = new Map(tasks.map((task) => [task.id, task]))
  const now = new Map((await tasksNow(config)).map((task) => [task.id, task]))
  const changes: TaskEdit[] = [
    ...read.remove.filter((id) => now.has(id)).map((task) => ({ task, removed: true })),
    ...read.update.flatMap(({ id, ...words }) => edit(shownAs.get(id), now.get(id), words)),
    ...read.add.map((added) => ({ task: context.newId(), ...added, status: 'pending' as const, createdAt })),
  ]
  if (changes.length > 0) await record({ kind: 'tasks.changed', changes }, config)
  return {}
}

/** A task's new words. What a person has written or taken out while the model was answering stays as the person left it. */
function edit(
  before: PlanTask | undefined,
  now: PlanTask | undefined,
  words: { title?: string | undefined; description?: string | undefined },
): TaskEdit[] {
  if (before === undefined || now === undefined) return []
  const free = (field: 'title' | 'description') =>
    before[field] === now[field] && words[field] !== now[field] ? words[field] : undefined
  const changed = defined({ title: free('title'), description: free('description') })
  return Object.keys(changed).length === 0 ? [] : [{ task: now.id, ...changed }]
}

/** What the first code fence holds. */
function fencedIn(text: string): string | undefined {
  const open = text.indexOf('```')
  const start = open === -1 ? -1 : text.indexOf('\n', open)
  const end = start === -1 ? -1 : text.indexOf('```', start)
  return end === -1 ? undefined : text.slice(start, end)
}

/** Models often put JSON in a code fence, even when instructed not to. */
function changesIn(text: string): z.infer<typeof planChanges> | undefined {
  const json = fencedIn(text) ?? text
  try {
    return planChanges.safeParse(JSON.parse(json)).data
  } catch {
    return undefined
  }
}
