import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planLogs } from '../../../../../test/kit/arbitrary-plan.ts'
import type { Recorded } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { planView } from '../../view/plan/index.ts'
import type { PlanState } from '../../view/plan/state.ts'
import { fold } from '../../view/view.ts'
import { planDialect } from './index.ts'

// A client folds what it reads, from the first frame or from the plan that it asked for when it joined. Whatever a crash
// made void, it must have the plan that the view has.

/** The plan of a client that had `plan` and read these frames. */
function client(frames: readonly Frame[], plan: PlanState = planView.initial): PlanState {
  const decoder = planDialect.decoder({ run: 'r' })
  const rows = frames
    .flatMap((frame) => decoder.push(frame))
    .map((draft, i) => ({ seq: 100 + i, at: 100 + i, ...draft }))
  return rows.reduce((state, row) => planView.apply(state, row as Recorded), plan)
}

/** What this wire can tell of a plan. A text that a task no longer has is empty, and only who read all can count versions. */
const told = ({ tasks, data, artifacts, summary }: PlanState, versions: boolean) => ({
  tasks: tasks
    .toArray()
    .map(({ id: of, title, description, status: is, result, reflection }) => [
      of,
      title,
      description || undefined,
      is,
      result || undefined,
      reflection || undefined,
    ]),
  data: data
    .toArray()
    .filter(({ deleted }) => deleted !== true)
    .map(({ id: of, item: value }) => `${of} ${value}`)
    .sort(),
  artifacts: artifacts
    .toArray()
    .filter(({ deleted }) => deleted !== true)
    .map(({ id: of, name, version }) => (versions ? `${of} ${name} ${version}` : of))
    .sort(),
  summary,
})

test('SPEC 4.6: at every row the frames so far give the plan of the view, and so they do from any row on', () => {
  fc.assert(
    fc.property(planLogs, (log) => {
      const encoder = planDialect.encoder({ session: 's' })
      const frames = log.map((row) => encoder.push(row))
      const whole = fold(planView, log)
      for (const at of log.keys()) {
        const before = fold(planView, log.slice(0, at + 1))
        expect(told(client(frames.slice(0, at + 1).flat()), true)).toEqual(told(before, true))
        expect(told(client(frames.slice(at + 1).flat(), before), false)).toEqual(told(whole, false))
      }
    }),
    { numRuns: 300 },
  )
})
