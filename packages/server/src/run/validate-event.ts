import {
  isObject,
  isOpaque,
  isRunEvent,
  maxJsonDepth,
  type Problem,
  type ProblemCode,
  type RunEvent,
  whyNotRunEvent,
} from '@millrace/core'

/** What became of something an agent yielded. */
export type ValidatedEvent =
  | { readonly event: RunEvent; readonly size: number }
  /** The run cannot go on; `kept` is what can be shown of the value. */
  | { readonly problem: Problem; readonly kept: RunEvent }

/** How much of a refused value is kept. */
const keptLength = 2_000

/** The door between an agent and the log: only events, only JSON, only so large. */
export function validateEvent(value: unknown, maxSize: number): ValidatedEvent {
  const size = measure(value, maxSize, maxJsonDepth)
  if (typeof size === 'string') return refused('garbage', `the agent yielded ${size}, which is not JSON`, show(value))
  if (size > maxSize) return refused('limit', `an event is larger than ${maxSize} characters`, kindOf(value))
  if (!isRunEvent(value)) {
    return refused('garbage', `the agent yielded no event: ${whyNotRunEvent(value) ?? ''}`, show(value))
  }
  // The engine's own word, before the agent has it.
  if (value.kind === 'run.started') return refused('garbage', 'the agent yielded a second run.started', show(value))
  return { event: value, size }
}

function kindOf(value: unknown): string {
  return isObject(value) && typeof value.kind === 'string' ? value.kind.slice(0, keptLength) : ''
}

function refused(code: ProblemCode, message: string, raw: string): ValidatedEvent {
  return { problem: { code, message }, kept: { kind: 'foreign', dialect: 'agent', raw, reason: message } }
}

/**
 * About how many characters it has as JSON, or what in it JSON.stringify would turn into something else without a word.
 * Stops once it is over `budget`; what is too deep, or in a circle, is the guard's to say.
 */
function measure(value: unknown, budget: number, depth: number): number | string {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null || depth === 0) return 8
  if (isOpaque(value)) return `a ${value.constructor?.name ?? 'value'}`
  let total = 2
  for (const key in value) {
    const size = measure(Reflect.get(value, key), budget - total, depth - 1)
    if (typeof size === 'string') return size
    total += size + (Array.isArray(value) ? 1 : key.length + 4)
    if (total > budget) return total
  }
  return total
}

function show(value: unknown): string {
  let text: string | undefined
  try {
    text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  } catch {
    // A value that contains itself, or whose toJSON throws.
  }
  return (text ?? `(${typeof value})`).slice(0, keptLength)
}
