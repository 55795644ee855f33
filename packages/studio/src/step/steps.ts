import type { Call, Calls, Execution, Timeline } from '@millrace/core'

/** One step of a session: an execution of an agent, or a call of a model or a tool inside it. */
export interface SessionStep {
  readonly key: string
  readonly startSeq: number
  readonly endSeq: number | undefined
  readonly call?: Call
  readonly execution?: Execution
}

/** All steps in the order of their starts; an execution comes before its calls. */
export function stepsOf({ calls }: Calls, { executions }: Timeline): readonly SessionStep[] {
  const nodes = executions.toArray().map(
    (execution): SessionStep => ({
      key: nodeKey(execution),
      startSeq: execution.startSeq,
      endSeq: execution.endSeq,
      execution,
    }),
  )
  const called = calls.toArray().map(
    (call): SessionStep => ({
      key: callKey(call.run, call.call),
      startSeq: call.startSeq,
      endSeq: call.endSeq,
      call,
    }),
  )
  return [...nodes, ...called].sort((a, b) => a.startSeq - b.startSeq)
}

export function nodeKey({ key }: Pick<Execution, 'key'>): string {
  return `node ${key}`
}

export function callKey(run: string, call: string): string {
  return `call ${run}/${call}`
}

/** The step that was chosen, else the innermost one at the cursor, else the last one before it. */
export function stepAt(steps: readonly SessionStep[], at: number | undefined, key?: string): number {
  const chosen = key === undefined ? -1 : steps.findIndex((step) => step.key === key)
  if (chosen >= 0 || at === undefined) return chosen >= 0 ? chosen : steps.length - 1
  const open = steps.findLastIndex(({ startSeq, endSeq = Number.POSITIVE_INFINITY }) => startSeq <= at && endSeq >= at)
  return open >= 0 ? open : steps.findLastIndex(({ startSeq }) => startSeq <= at)
}

/** The calls that an execution made, its own only. A log without nodes shows by agent and place which those are. */
export function callsIn(steps: readonly SessionStep[], execution: Execution): readonly SessionStep[] {
  const { run, node, agent, key, inferred } = execution
  const turns = steps.flatMap((step) =>
    step.execution?.run === run && step.execution.agent === agent ? [step.execution] : [],
  )
  return steps.filter(({ call }) => {
    if (call === undefined || call.run !== run) return false
    if (call.node !== undefined || inferred !== true) return call.node === node
    return call.agent === agent && turns.findLast(({ startSeq }) => startSeq <= call.startSeq)?.key === key
  })
}
