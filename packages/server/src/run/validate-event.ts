import { isObject, maxJsonDepth, type Problem, type ProblemCode, type RunEvent, whyNotRunEvent } from '@millrace/core'
import { PrintedPartial } from '../agent/printed-partial.ts'

/** What became of something that an agent yielded. */
export type ValidatedEvent =
  /** `size` is about how many characters the event has as JSON. */
  | { readonly event: RunEvent; readonly size: number }
  /** The run cannot go on; `kept` records what can be shown of the value. */
  | { readonly problem: Problem; readonly kept: RunEvent }

/** How many characters of a refused value are kept. */
const keptLength = 2_000

/** Checks what an agent yields before it goes to the log: it must be an event, made of JSON, and not too large. */
export function validateEvent(value: unknown, maxSize: number): ValidatedEvent {
  const isPrinted = value instanceof PrintedPartial
  const size = isPrinted ? value.text.length : sizeOf(value, maxSize, maxJsonDepth)
  if (size > maxSize) return refused('limit', `an event is larger than ${maxSize} characters`, kindOf(value))
  // It was checked before it was printed.
  if (isPrinted) return { event: value, size }
  const fault = whyNotRunEvent(value)
  if (fault !== undefined)
    return refused('garbage', `the agent yielded something that is not an event: ${fault}`, show(value))
  const event = value as RunEvent
  if (event.kind === 'run.started')
    return refused('garbage', 'the agent yielded run.started, which only the engine records', show(value))
  if (event.kind === 'feedback')
    return refused('garbage', 'the agent yielded feedback, which only a person gives', show(value))
  return { event, size }
}

function kindOf(value: unknown): string {
  return isObject(value) && typeof value.kind === 'string' ? value.kind.slice(0, keptLength) : ''
}

function refused(code: ProblemCode, message: string, raw: string): ValidatedEvent {
  return { problem: { code, message }, kept: { kind: 'foreign', dialect: 'agent', raw, reason: message } }
}

/**
 * About how many characters the value has as JSON. It counts and checks nothing: it stops once the count is over
 * `budget`, so that a huge value is refused without a walk through all of it, and below `depth`, which the check refuses.
 */
function sizeOf(value: unknown, budget: number, depth: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null || depth === 0 || ArrayBuffer.isView(value)) return 8
  const isArray = Array.isArray(value)
  let total = 2
  for (const key in value) {
    total += sizeOf(Reflect.get(value, key), budget - total, depth - 1) + (isArray ? 1 : key.length + 4)
    if (total > budget) return total
  }
  return total
}

function show(value: unknown): string {
  let text: string | undefined
  try {
    text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  } catch {
    // The value contains itself, or its toJSON throws.
  }
  return (text ?? `(${typeof value})`).slice(0, keptLength)
}
