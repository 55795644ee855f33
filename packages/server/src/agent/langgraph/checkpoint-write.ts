import { nullTask, type SeededSaver, taskIdOf } from './checkpoint.ts'
import type { Snapshot } from './langgraph-agent.ts'

/**
 * Whether a graph inside a step of this one has a checkpoint. It is found by that step, whose id comes from the checkpoint
 * that the step began after: with another checkpoint, the inner graph would begin anew.
 */
export function hasBegunInside({ saver }: SeededSaver, thread: string, { tasks = [] }: Snapshot): boolean {
  const ids = new Set(tasks.flatMap(({ id }) => id ?? []))
  return Object.keys(saver.storage[thread] ?? {}).some((namespace) => ids.has(taskIdOf(namespace.split('|')[0])))
}

/**
 * Writes values into a checkpoint of the log, which stays the same one: as pending writes of no task, as LangGraph keeps
 * what comes with an answer. It adds them to the state when it goes on, before its tasks see it. `replaces`: what else was
 * written so into these channels does not count, because most channels take one value at a time.
 */
export async function writeIn(
  { saver }: SeededSaver,
  { config }: Snapshot,
  values: Readonly<Record<string, unknown>>,
  replaces: boolean,
): Promise<void> {
  const { serializer } = await import('./serializer.ts')
  const { thread_id: thread, checkpoint_ns: namespace = '', checkpoint_id: id } = config?.configurable ?? {}
  const key = JSON.stringify([thread, namespace, id])
  const kept = Object.entries(saver.writes[key] ?? {}).filter(
    ([, [task, channel]]) => !(replaces && task === nullTask && Object.hasOwn(values, channel)),
  )
  const written = Object.entries(values).map(async ([channel, value]) => {
    const [, stored] = await serializer.dumpsTyped(value)
    return [`${nullTask},changed ${channel}`, [nullTask, channel, stored] as const] as const
  })
  saver.writes[key] = Object.fromEntries([...kept, ...(await Promise.all(written))])
}
