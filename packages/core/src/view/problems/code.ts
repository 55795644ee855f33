import type { NodeId } from '../../event/run-event.ts'

export type Severity = 'error' | 'warning' | 'info'

/**
 * The linter's codes, closed: programs decide on the code, people read the sentence. `error`: the stream breaks the
 * contract; `warning`: something is lost or doubtful; `info`: worth knowing.
 */
export const streamProblems = {
  // The stream as a whole.
  unread: ['warning', 'Something on the wire could not be read; its raw text is kept.'],
  'no-end': ['error', 'The stream stopped and the run never ended.'],
  'second-end': ['error', 'A run ended twice.'],
  'after-end': ['error', 'An event came after the run had ended.'],
  'before-start': ['error', 'An event came before the run had started.'],
  'run-repeated': ['error', 'A run started twice.'],
  'seq-order': ['error', 'Events are not in the order of their numbers.'],
  'event-repeated': ['warning', 'The same event was delivered twice.'],
  'time-backwards': ['warning', 'An event is much older than one before it.'],
  superseded: ['info', 'A crash interrupted a step and it ran again.'],
  'too-much': ['info', 'The run has more ids than the linter tracks; later ids are not checked.'],
  // Text.
  'cumulative-text': ['warning', 'Deltas repeat the text so far instead of adding to it.'],
  'delta-after-whole': ['error', 'A delta came for a message that was already complete.'],
  'text-differs': ['warning', 'The complete text is not what its deltas add up to.'],
  'text-not-closed': ['warning', 'A message was never completed, though its run ended well.'],
  'bad-part': ['warning', 'A part of a message is not text, call, response or data.'],
  // Tools.
  'result-without-call': ['error', 'A tool result answers no call.'],
  'answered-twice': ['warning', 'A tool call was answered twice.'],
  'call-repeated': ['warning', 'A tool call has the id of an earlier one.'],
  'call-unanswered': ['warning', 'A tool call was never answered, though its run ended well.'],
  'bad-args': ['warning', 'The arguments of a tool call are not an object.'],
  // State and proof.
  'lost-patch': ['error', 'A state patch does not apply, so its change is lost.'],
  'bad-proof': ['warning', 'A proof_layer breaks its contract and is not used.'],
  // Nodes, tasks, questions.
  'node-repeated': ['error', 'A node started twice.'],
  'node-unknown': ['error', 'A node is named that never started.'],
  'node-ended-twice': ['error', 'A node ended twice.'],
  'node-end-order': ['warning', 'A node ended before the nodes that it had started.'],
  'node-after-end': ['warning', 'Something happened in a node that had ended.'],
  'node-not-ended': ['warning', 'A node never ended, though its run ended well.'],
  'task-unknown': ['warning', 'A task is named that is not in the plan.'],
  'interrupt-unknown': ['warning', 'A person answered a question that is not open.'],
} as const satisfies Readonly<Record<string, readonly [Severity, string]>>

export type StreamProblemCode = keyof typeof streamProblems

/** One violation in a stream: what, where, and a sentence about this very case. */
export interface StreamProblem {
  readonly code: StreamProblemCode
  readonly severity: Severity
  readonly message: string
  /** The event that shows it. */
  readonly seq: number
  /** The earlier event that it clashes with. */
  readonly earlier?: number
  readonly run: string
  readonly node?: NodeId
  readonly call?: string
}
