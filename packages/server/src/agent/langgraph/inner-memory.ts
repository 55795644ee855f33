import { isObject } from '@millrace/core'

/** What LangGraph asks a saver with, and what it tells inner graphs by it: that they go on, and inside which checkpoints. */
interface Asked {
  readonly configurable: Record<string, unknown>
}

/** LangGraph's name for what tells an inner graph to go on. It removes it itself where it goes back to an older checkpoint. */
const goesOnKey = '__pregel_resuming'

/**
 * An inner graph with a memory of its own (`checkpointer: true`) begins each conversation where it ended the one before.
 * When a call goes on after a crash, LangGraph lets all inner graphs go on: one that had not begun yet would end at once,
 * with its answer of the conversation before. So this takes the sign to go on from an inner graph whose newest checkpoint
 * was made inside another step of the graph around it. `tuple` is what the saver has for `asked`.
 */
export function beginInnerGraph(asked: unknown, tuple: unknown): void {
  if (!isAsked(asked) || !isAfterCrash(asked) || !isObject(tuple)) return
  const { checkpoint_map: around, checkpoint_ns: namespace } = asked.configurable
  const parents = isObject(tuple.metadata) ? tuple.metadata.parents : undefined
  if (namespace === '' || !isObject(around) || !isObject(parents)) return
  const isOfThisStep = Object.entries(around).every(([name, checkpoint]) => parents[name] === checkpoint)
  if (!isOfThisStep) delete asked.configurable[goesOnKey]
}

function isAsked(config: unknown): config is Asked {
  return isObject(config) && isObject(config.configurable)
}

function isAfterCrash({ configurable: { millrace } }: Asked): boolean {
  return isObject(millrace) && isObject(millrace.context) && millrace.context.resumed === true
}
