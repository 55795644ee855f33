import { isObject } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { graphIdOf, openQuestions } from './graph-interrupts.ts'
import type { CompiledGraph, Snapshot } from './langgraph-agent.ts'

/** LangGraph's channel for the answers that a task has used. It stores them when the task asks its next question. */
const usedChannel = '__resume__'

/**
 * The answers of a run that goes on after a crash which the graph has used already, although it waits with a question of
 * the same id: the second `interrupt()` of a task has the id of the first. Given again, they would answer that one.
 */
export async function usedAnswers(
  graph: CompiledGraph,
  answers: readonly string[],
  { history, resumed }: RunContext,
  before: Snapshot,
): Promise<ReadonlySet<string>> {
  if (!resumed || answers.length === 0 || openQuestions(before).length === 0) return new Set()
  const used = new Map<string, number>()
  for await (const [id, count] of counted(graph, before)) used.set(id, Math.max(count, used.get(id) ?? 0))
  const earlier = history.flatMap(({ event }) => (event.kind === 'resumed' ? [event.interrupt] : []))
  const given = [...new Set([...earlier, ...answers])]
  return new Set(
    answers.filter((answer) => {
      const id = graphIdOf(answer)
      return (used.get(id) ?? 0) >= given.filter((each) => graphIdOf(each) === id).length
    }),
  )
}

/** How many answers each task that waits has used, by the id of its question; those of inner graphs too. */
async function* counted(graph: CompiledGraph, { config, tasks = [] }: Snapshot): AsyncGenerator<[string, number]> {
  const writes = await pendingWrites(graph, config)
  for (const { id: task, interrupts = [], state } of tasks) {
    const lengths = writes.flatMap(([of, channel, value]) =>
      of === task && channel === usedChannel && Array.isArray(value) ? [value.length] : [],
    )
    for (const { id } of interrupts) if (id !== undefined) yield [id, Math.max(0, ...lengths)]
    if (isObject(state)) yield* counted(graph, state as Snapshot)
  }
}

type Write = readonly [task: string, channel: string, value: unknown]

async function pendingWrites({ checkpointer }: CompiledGraph, config: object | undefined): Promise<readonly Write[]> {
  const saver = checkpointer as { getTuple?(config: object): Promise<{ pendingWrites?: readonly Write[] } | undefined> }
  const tuple = config === undefined ? undefined : await saver.getTuple?.(config)
  return tuple?.pendingWrites ?? []
}
