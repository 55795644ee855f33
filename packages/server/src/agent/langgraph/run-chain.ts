import { isPartial, nodePath, type Recorded } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { EarlierNodes } from './earlier-nodes.ts'

/** What earlier runs left for this one: it continues them, so it goes on with their numbers and their open calls. */
export interface RunChain {
  /** How often each path has started. */
  readonly executions: ReadonlyMap<string, number>
  /** Calls without an answer: call id → tool. */
  readonly openCalls: ReadonlyMap<string, string>
  /** The task that the graph is in the middle of. */
  readonly task: string | undefined
  readonly nodes: EarlierNodes
}

/**
 * The chain is this run, as far as it went before a crash, and the interrupted runs directly before it. `goesOn` tells
 * whether the graph goes on where it was, or begins at its start.
 */
export function runChain({ history, run }: Pick<RunContext, 'history' | 'run'>, goesOn: boolean): RunChain {
  const executions = new Map<string, number>()
  const openCalls = new Map<string, string>()
  const rows = chainRows(history, run)
  for (const { event } of rows) {
    if (event.kind === 'node.started') {
      const path = nodePath(event.node)
      executions.set(path, Math.max((executions.get(path) ?? 0) + 1, numberOf(event.node)))
    }
    if (event.kind !== 'agent' || isPartial(event.event)) continue
    for (const { functionCall, functionResponse } of event.event.content?.parts ?? []) {
      if (functionCall?.id !== undefined) openCalls.set(functionCall.id, functionCall.name)
      if (functionResponse?.id !== undefined) openCalls.delete(functionResponse.id)
    }
  }
  const before = goesOn ? rows : []
  return { executions, openCalls, task: openTask(before), nodes: new EarlierNodes(before) }
}

/** A node that runs again starts or finishes its task again, so what it said of it does not count (SPEC 4.6). */
function openTask(rows: readonly Recorded[]): string | undefined {
  const again = new Set(
    rows.flatMap(({ run, event }) =>
      event.kind === 'superseded' && event.facts === true ? event.nodes.map((node) => `${run}\n${node}`) : [],
    ),
  )
  let task: string | undefined
  for (const { run, event } of rows) {
    if (event.kind !== 'task.started' && event.kind !== 'task.finished') continue
    if (!again.has(`${run}\n${event.node}`)) task = event.kind === 'task.started' ? event.task : undefined
  }
  return task
}

function chainRows(history: readonly Recorded[], run: string): readonly Recorded[] {
  const interrupted = new Set<string>()
  let from = history.length
  for (let i = history.length - 1; i >= 0; i--) {
    const row = history[i]
    if (row?.event.kind === 'run.finished' && row.event.outcome === 'interrupted') interrupted.add(row.run)
    if (row?.event.kind !== 'run.started') continue
    if (row.run !== run && !interrupted.has(row.run)) break
    from = i
  }
  const superseded = new Set<string>()
  const rows = history.slice(from).filter((row) => row.run !== '')
  for (const row of rows) {
    if (row.event.kind !== 'superseded') continue
    for (const message of row.event.messages) superseded.add(`${row.run}\n${message}`)
  }
  // A superseded call is made again; the same id in a later attempt comes after the superseded row and is rare.
  return rows.filter(
    ({ run: of, event }) => event.kind !== 'agent' || of !== run || !superseded.has(`${of}\n${event.message}`),
  )
}

function numberOf(node: string): number {
  const number = Number(node.slice(node.lastIndexOf('@') + 1))
  return Number.isInteger(number) ? number : 0
}
