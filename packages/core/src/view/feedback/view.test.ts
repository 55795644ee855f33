import { describe, expect, test } from 'vitest'
import { loadViewVectors } from '../../../../../test/kit/vectors.ts'
import type { FeedbackGiven, FeedbackTarget } from '../../event/feedback.ts'
import type { Recorded } from '../../event/run-event.ts'
import { describeView } from '../../testing/index.ts'
import { fold } from '../view.ts'
import { feedbackOn, feedbackView } from './index.ts'

describeView({ describe, expect, test }, feedbackView, loadViewVectors('feedback'))

const answer: FeedbackTarget = { run: 'r1', message: 'm1' }
const rowsOf = (...events: readonly Omit<FeedbackGiven, 'kind'>[]): readonly Recorded[] =>
  events.map((event, i) => ({ seq: i + 1, at: 100 + i, run: '', event: { kind: 'feedback', ...event } }))

describe('SPEC 1.11: feedback', () => {
  test('the newest of one person about one thing counts, with its time', () => {
    const state = fold(
      feedbackView,
      rowsOf(
        { about: answer, rating: 'up', by: 'ann' },
        { about: answer, rating: 'down', note: 'wrong year', by: 'ann' },
        { about: answer, rating: 'up', by: 'bob' },
      ),
    )
    expect(feedbackOn(state, answer)).toEqual([
      { about: answer, rating: 'down', note: 'wrong year', by: 'ann', seq: 2, at: 101 },
      { about: answer, rating: 'up', by: 'bob', seq: 3, at: 102 },
    ])
    expect([state.up, state.down, state.notes]).toEqual([1, 1, 1])
  })

  test('one without a rating and a note takes it back, and it can be given again', () => {
    const rows = rowsOf({ about: answer, rating: 'up' }, { about: answer, note: '' }, { about: answer, note: 'fine' })
    const gone = fold(feedbackView, rows.slice(0, 2))
    expect(feedbackOn(gone, answer)).toEqual([])
    expect([gone.up, gone.notes]).toEqual([0, 0])
    expect(feedbackOn(fold(feedbackView, rows), answer)).toEqual([{ about: answer, note: 'fine', seq: 3, at: 102 }])
  })

  test('taking back what was never given changes nothing', () => {
    const [row] = rowsOf({ about: answer })
    if (row === undefined) throw new Error('no row')
    expect(feedbackView.apply(feedbackView.initial, row)).toBe(feedbackView.initial)
  })

  test('a message, a call, a node and the run are different things, and ids count within their run', () => {
    const targets: readonly FeedbackTarget[] = [
      { run: 'r1' },
      { run: 'r1', message: 'x' },
      { run: 'r1', call: 'x' },
      { run: 'r1', node: 'x' },
      { run: 'r2', message: 'x' },
    ]
    const state = fold(feedbackView, rowsOf(...targets.map((about, i) => ({ about, note: String(i) }))))
    expect(targets.map((about) => feedbackOn(state, about).map(({ note }) => note))).toEqual([
      ['0'],
      ['1'],
      ['2'],
      ['3'],
      ['4'],
    ])
    expect(feedbackOn(state, { run: 'r3' })).toEqual([])
  })
})
