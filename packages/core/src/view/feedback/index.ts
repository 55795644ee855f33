import { type FeedbackGiven, type FeedbackTarget, feedbackKey } from '../../event/feedback.ts'
import type { Recorded } from '../../event/run-event.ts'
import { defined } from '../../json/defined.ts'
import type { View } from '../view.ts'
import { type Feedback, type FeedbackState, noFeedback } from './state.ts'

/** What persons think of answers and steps: of each person about each thing what was given last (SPEC 1.11). */
export const feedbackView: View<FeedbackState> = {
  name: 'feedback',
  initial: noFeedback,
  apply: (state, row) => (row.event.kind === 'feedback' ? withFeedback(state, row, row.event) : state),
}

/** What counts now about a message, a call, a node or a run, in the order in which it was first given. */
export function feedbackOn({ given, index }: FeedbackState, about: FeedbackTarget): readonly Feedback[] {
  const found: Feedback[] = []
  for (let at = index.targets.get(feedbackKey(about)); at !== undefined; at = at.before) {
    const one = given.at(at.place)
    if (one !== undefined && one.removed !== true) found.push(one)
  }
  return found.reverse()
}

function withFeedback(state: FeedbackState, { seq, at }: Recorded, event: FeedbackGiven): FeedbackState {
  const { given, index } = state
  const { about, rating, note, by } = event
  const target = feedbackKey(about)
  const key = `${target}\n${by ?? ''}`
  const known = index.places.get(key)
  const isEmpty = rating === undefined && (note ?? '') === ''
  if (known === undefined && isEmpty) return state
  const one: Feedback = {
    about,
    seq,
    at,
    ...defined({ by, rating, note: note === '' ? undefined : note }),
    ...(isEmpty ? { removed: true } : {}),
  }
  const counted = counts(state, known === undefined ? undefined : given.at(known), one)
  if (known !== undefined) return { ...counted, given: given.with(known, one) }
  const place = given.length
  return {
    ...counted,
    given: given.append(one),
    index: {
      places: index.places.set(key, place),
      targets: index.targets.set(target, { place, before: index.targets.get(target) }),
      toJSON: index.toJSON,
    },
  }
}

function counts(state: FeedbackState, before: Feedback | undefined, after: Feedback): FeedbackState {
  const change = (has: (one: Feedback) => boolean): number =>
    Number(has(after)) - Number(before !== undefined && has(before))
  return {
    ...state,
    up: state.up + change(({ rating }) => rating === 'up'),
    down: state.down + change(({ rating }) => rating === 'down'),
    notes: state.notes + change(({ note }) => note !== undefined),
  }
}
