import { type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import type { StructuredToolInterface } from '@langchain/core/tools'
import { fold, type PlanCall, type PlanTask, planView } from '@millrace/core'
import { graphRun, record } from '@millrace/server/langgraph'
import type { SearchResult } from '../corpus/search.ts'
import type { PlannerState } from './agent.ts'
import { llm } from './offline.ts'
import { toolsFor } from './tools.ts'

type State = typeof PlannerState.State

/** Model turns on one task; a model that needs more is going in circles. */
const maxTurns = 8

/** The tasks as the log had them when the run began, including a person's edits: the log is the only truth. */
export function tasksOf(config: RunnableConfig): readonly PlanTask[] {
  return fold(planView, graphRun(config).context.history).tasks.toArray()
}

/** The tasks as the log has them now: a person may have changed the plan since the run began. */
export async function tasksNow(config: RunnableConfig): Promise<readonly PlanTask[]> {
  const { history, rowsAfter } = graphRun(config).context
  const rows = (await rowsAfter?.(history.at(-1)?.seq ?? 0)) ?? []
  return fold(planView, [...history, ...rows]).tasks.toArray()
}

/**
 * What the searches of the finished tasks found, from the log: a stop at any moment after a task has ended loses none of
 * it, and the findings of a task that was removed or opened again no longer count.
 */
function findingsOf(config: RunnableConfig): readonly SearchResult[] {
  const calls = tasksOf(config)
    .filter(({ status }) => status === 'done')
    .flatMap((task) => task.calls.toArray())
  return calls.flatMap(({ name, response, superseded }) =>
    name === 'web_search' && superseded !== true ? resultsIn(response) : [],
  )
}

function resultsIn(response: PlanCall['response']): readonly SearchResult[] {
  const results = response?.results
  return Array.isArray(results) ? (results as unknown as readonly SearchResult[]) : []
}

/** Queues the open tasks, in execute mode. A task that an earlier execution left in progress counts as open. */
export function beginTask(_state: State, config: RunnableConfig) {
  const execute = graphRun(config).input.props?.mode === 'execute'
  const open = tasksOf(config).filter(isOpen)
  return { queue: execute ? open.map(({ id }) => id) : [], findings: findingsOf(config), current: null, outcome: null }
}

export function nextStep(_state: State, config: RunnableConfig): 'chat' | 'select_task' {
  return graphRun(config).input.props?.mode === 'execute' ? 'select_task' : 'chat'
}

/** Takes the next task that the plan still has and that is still to do. */
export async function selectTask({ queue }: State, config: RunnableConfig) {
  const open = new Set((await tasksNow(config)).filter(isOpen).map(({ id }) => id))
  const [current, ...rest] = queue.filter((id) => open.has(id))
  if (current === undefined) return { current: null, queue: [] }
  await record({ kind: 'task.started', task: current }, config)
  return { current, queue: rest, outcome: null }
}

const isOpen = ({ status }: PlanTask): boolean => status === 'pending' || status === 'in_progress'

/** Works on one task: the model calls tools until it has an answer. An error fails this task only. */
export async function executeTask({ current, findings }: State, config: RunnableConfig) {
  const task = (await tasksNow(config)).find(({ id }) => id === current)
  const found = new Map(findings.map((finding) => [finding.url, finding]))
  const tools = toolsFor(task?.id ?? '', config, (result) => found.set(result.url, result))
  try {
    if (task === undefined) throw new Error('the task is no longer in the plan')
    const result = await work(task, findings, tools, config)
    return { outcome: { status: 'done' as const, result }, findings: [...found.values()] }
  } catch (error) {
    if (graphRun(config).context.signal.aborted) throw error
    return { outcome: { status: 'failed' as const, result: error instanceof Error ? error.message : String(error) } }
  }
}

async function work(
  task: PlanTask,
  findings: readonly SearchResult[],
  tools: ReturnType<typeof toolsFor>,
  config: RunnableConfig,
): Promise<string> {
  const model = llm.bindTools?.(tools) ?? llm
  const known = findings.map(({ snippet, title, url }) => `- ${snippet} ([${title}](${url}))`).join('\n')
  const messages: BaseMessage[] = [
    new SystemMessage(
      'Carry out the task. Search where you need facts, keep results as artifacts or data items, then say in one sentence what you did.',
    ),
    new HumanMessage(
      `Task: ${task.title}\n${task.description ?? ''}${known === '' ? '' : `\n\nFindings so far:\n${known}`}`,
    ),
  ]
  for (let turn = 0; turn < maxTurns; turn++) {
    const answer = await model.withConfig({ tags: ['nostream'] }).invoke(messages as never, config)
    messages.push(answer)
    const calls = answer.tool_calls ?? []
    if (calls.length === 0) return answer.text
    messages.push(...(await Promise.all(calls.map((call) => toolAnswer(tools, call, config)))))
  }
  throw new Error(`the task was given up after ${maxTurns} turns`)
}

interface Call {
  readonly id?: string | undefined
  readonly name: string
  readonly args: Record<string, unknown>
}

/** A failed tool answers with its error, so that the model can try something else. */
async function toolAnswer(
  tools: ReturnType<typeof toolsFor>,
  call: Call,
  config: RunnableConfig,
): Promise<ToolMessage> {
  const found = tools.find(({ name }) => name === call.name) as StructuredToolInterface | undefined
  const reply = (content: unknown) =>
    new ToolMessage({ content: JSON.stringify(content), tool_call_id: call.id ?? '', name: call.name })
  if (found === undefined) return reply({ error: `unknown tool ${call.name}` })
  try {
    return reply(await found.invoke(call.args, config))
  } catch (error) {
    return reply({ error: error instanceof Error ? error.message : String(error) })
  }
}

export async function reflect({ current, outcome }: State, config: RunnableConfig) {
  if (current === null || outcome === null) return {}
  await record({ kind: 'task.finished', task: current, ...outcome }, config)
  const title = (await tasksNow(config)).find(({ id }) => id === current)?.title ?? current
  const ask = new HumanMessage(`Task: ${title}\nStatus: ${outcome.status}\nResult: ${outcome.result}`)
  const system = new SystemMessage('Reflect in one or two sentences on how the task went and what follows from it.')
  const { text } = await llm.withConfig({ tags: ['nostream'] }).invoke([system, ask], config)
  await record({ kind: 'task.reflected', task: current, text }, config)
  return {}
}
