import type { FeedbackGiven } from '../../event/feedback.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'

/** The feedback of one person about one thing, as it is now. */
export interface Feedback extends Pick<FeedbackGiven, 'about' | 'rating' | 'note' | 'by'> {
  /** The event that gave it last, and its time. */
  readonly seq: number
  readonly at: number
  /** The person took it back. */
  readonly removed?: true
}

export interface FeedbackState {
  /** In the order in which it was first given. */
  readonly given: Sequence<Feedback>
  /** How many ratings and notes count now. */
  readonly up: number
  readonly down: number
  readonly notes: number
  readonly index: FeedbackIndex
}

export interface FeedbackIndex {
  /** Positions in `given`, by target and person. */
  readonly places: Dictionary<number>
  /** All positions of a target, the newest first. */
  readonly targets: Dictionary<TargetPlaces>
  toJSON(): undefined
}
export interface TargetPlaces {
  readonly place: number
  readonly before: TargetPlaces | undefined
}

export const noFeedback: FeedbackState = {
  given: Sequence.empty,
  up: 0,
  down: 0,
  notes: 0,
  index: { places: Dictionary.empty, targets: Dictionary.empty, toJSON: () => undefined },
}
