import type { Call, Calls, Execution, Recorded, Timeline } from '@millrace/core'

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

/**
 * The step that was chosen, else the innermost one at the cursor, else the last one before it. Where agents work side by
 * side, several are open at the cursor: the event there tells whose it is.
 */
export function stepAt(
  steps: readonly SessionStep[],
  at: number | undefined,
  { key, row }: { readonly key?: string | undefined; readonly row?: Recorded | undefined } = {},
): number {
  const chosen = key === undefined ? -1 : steps.findIndex((step) => step.key === key)
  if (chosen >= 0 || at === undefined) return chosen >= 0 ? chosen : steps.length - 1
  const isOpen = ({ startSeq, endSeq = Number.POSITIVE_INFINITY }: SessionStep): boolean =>
    startSeq <= at && endSeq >= at
  for (const isOwn of row?.seq === at ? ownersOf(row) : []) {
    const own = steps.findLastIndex((step) => isOpen(step) && runOf(step) === row?.run && isOwn(step))
    if (own >= 0) return own
  }
  const open = steps.findLastIndex(isOpen)
  return open >= 0 ? open : steps.findLastIndex(({ startSeq }) => startSeq <= at)
}

const runOf = ({ call, execution }: SessionStep): string | undefined => call?.run ?? execution?.run

/** What makes a step that of an event, the surest first: its call, its node, and its author where the log has no nodes. */
function ownersOf({ event }: Recorded): readonly ((step: SessionStep) => boolean)[] {
  const made: ((step: SessionStep) => boolean)[] = []
  if (event.kind === 'model.started' || event.kind === 'model.finished' || event.kind === 'tool.finished')
    made.push(({ call }) => call?.call === event.call)
  if ('node' in event && event.node !== undefined)
    made.push(({ call, execution }) => (call ?? execution)?.node === event.node)
  if (event.kind === 'agent')
    made.push(({ call, execution }) => (call ?? execution)?.agent === (event.event.author ?? ''))
  return made
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
