import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planLogs } from '../../../../../test/kit/arbitrary-plan.ts'
import type { Recorded } from '../../event/run-event.ts'
import { planView } from '../../view/plan/index.ts'
import type { PlanState } from '../../view/plan/state.ts'
import { fold } from '../../view/view.ts'
import { agUi } from './index.ts'

const told = ({ tasks, data, artifacts, summary, reflections }: PlanState) => ({
  tasks: tasks
    .toArray()
    .map(({ id, title, status, order, result, reflection }) => [id, title, status, order, result, reflection]),
  data: data.toArray().map(({ id, item, deleted }) => [id, item, deleted]),
  artifacts: artifacts.toArray().map(({ id, name, version, deleted }) => [id, name, version, deleted]),
  reflections: reflections.toArray().map(({ task, text }) => [task, text]),
  summary,
})

test('SPEC 4.6: a reader of AG-UI has the plan of the view at every row, whatever a crash made void', () => {
  fc.assert(
    fc.property(planLogs, (log) => {
      const encoder = agUi.encoder({ session: 's' })
      const decoder = agUi.decoder({ run: 'r' })
      let plan = planView.initial
      for (const [at, row] of log.entries()) {
        for (const draft of encoder.push(row).flatMap((frame) => decoder.push(frame))) {
          plan = planView.apply(plan, { seq: at, at, ...draft } as Recorded)
        }
        expect(told(plan)).toEqual(told(fold(planView, log.slice(0, at + 1))))
      }
    }),
    { numRuns: 200 },
  )
})
