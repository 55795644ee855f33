import type { NodeId } from './run-event.ts'

/**
 * What a person thinks of an answer or of a step. The newest event of one person about one thing counts (SPEC 1.11), so
 * that feedback is changed by giving it again; one without a rating and a note takes it back.
 */
export interface FeedbackGiven {
  readonly kind: 'feedback'
  readonly about: FeedbackTarget
  readonly rating?: 'up' | 'down'
  readonly note?: string
  /** The user who gave it. */
  readonly by?: string
}

/** A message, a call of a model or a tool, or an execution of a node; the whole run where it names none of them. */
export interface FeedbackTarget {
  readonly run: string
  readonly message?: string
  readonly call?: string
  readonly node?: NodeId
}

/** Equal for equal targets. Ids are unique only within their run and kind. */
export function feedbackKey({ run, message, call, node }: FeedbackTarget): string {
  return JSON.stringify([run, message ?? null, call ?? null, node ?? null])
}
