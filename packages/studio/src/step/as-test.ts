import { type Calls, modelAnswersOf, type Recorded } from '@millrace/core'
import type { SessionStep } from './steps.ts'
import { prettyJson } from './words.ts'

/** A test of this step for vitest: the rows up to its end, and what it gave. */
export function asTest({ call, execution, endSeq }: SessionStep, calls: Calls, rows: readonly Recorded[]): string {
  const until = endSeq ?? Number.POSITIVE_INFINITY
  const kept = rows.filter(
    ({ seq, event }) => seq <= until && !(event.kind === 'agent' && event.event.partial === true),
  )
  const name = call === undefined ? (execution?.node ?? '') : `${call.agent} calls ${call.name}`
  const answers = call === undefined ? [] : modelAnswersOf(calls, call)
  const view = call === undefined ? 'timelineView' : 'callsView'
  const list = call === undefined ? 'executions' : 'calls'
  const key = call?.key ?? execution?.key ?? ''
  const status = call?.status ?? execution?.status
  return `import { ${[view, 'fold', ...(answers.length === 0 ? [] : ['modelAnswersOf']), 'type Recorded'].toSorted().join(', ')} } from '@millrace/core'
import { expect, test } from 'vitest'

const rows = ${prettyJson(kept)} as unknown as Recorded[]

test(${JSON.stringify(name)}, () => {
  const state = fold(${view}, rows)
  const step = state.${list}.toArray().find(({ key }) => key === ${JSON.stringify(key)})
  expect(step).toMatchObject({ status: ${JSON.stringify(status)} })${
    answers.length === 0
      ? ''
      : `
  if (step === undefined) throw new Error('the log has no such step')
  expect(modelAnswersOf(state, step)).toEqual(${prettyJson(answers)})`
  }
})
`
}
