import { isObject, type Problem, type ProblemCode, type RunEvent, type RunEventKind } from '@millrace/core'

/** What became of something an agent yielded. */
export type Admitted =
  | { readonly event: RunEvent; readonly size: number }
  /** The run cannot go on; `kept` is what can be shown of the value. */
  | { readonly problem: Problem; readonly kept: RunEvent }

/** Deeper than any reader of ours goes, and far from what exhausts a stack. */
const maxDepth = 64
/** How much of a refused value is kept. */
const keptLength = 2_000

/** `true` where an agent may say it: `run.started` is the engine's own, before the agent has the word. */
const kinds: Readonly<Record<RunEventKind, boolean>> = {
  'run.started': false,
  'node.started': true,
  agent: true,
  state: true,
  'node.finished': true,
  tasks: true,
  'task.started': true,
  'task.finished': true,
  'task.reflected': true,
  artifact: true,
  data: true,
  interrupt: true,
  resumed: true,
  superseded: true,
  log: true,
  foreign: true,
  'run.finished': true,
}

/** The door between an agent and the log: only events, only JSON, only so large. */
export function admit(value: unknown, maxSize: number): Admitted {
  const size = measure(value, maxSize, maxDepth)
  if (typeof size === 'string') return refused('garbage', size, show(value))
  if (size > maxSize) return refused('limit', `an event is larger than ${maxSize} characters`, kindOf(value))
  if (!isEvent(value)) return refused('garbage', 'the agent yielded something that is not an event', show(value))
  return { event: value, size }
}

function isEvent(value: unknown): value is RunEvent {
  const kind = kindOf(value)
  return Object.hasOwn(kinds, kind) && Reflect.get(kinds, kind) === true
}

function kindOf(value: unknown): string {
  return isObject(value) && typeof value.kind === 'string' ? value.kind.slice(0, keptLength) : ''
}

function refused(code: ProblemCode, message: string, raw: string): Admitted {
  return { problem: { code, message }, kept: { kind: 'foreign', dialect: 'agent', raw, reason: message } }
}

/** About how many characters it has as JSON, or why it has no JSON. Stops counting once it is over `budget`. */
function measure(value: unknown, budget: number, depth: number): number | string {
  switch (typeof value) {
    case 'string':
      return value.length + 2
    case 'number':
    case 'boolean':
      return 8
    case 'undefined':
      return 0
    case 'object':
      return value === null ? 4 : measureObject(value, budget, depth)
    default:
      return `a ${typeof value} is not JSON`
  }
}

function measureObject(value: object, budget: number, depth: number): number | string {
  if (depth === 0) return 'the value is nested too deeply, or contains itself'
  if (isOpaque(value)) return `a ${value.constructor.name} is not JSON`
  let total = 2
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue
    const size = measure(Reflect.get(value, key), budget - total, depth - 1)
    if (typeof size === 'string') return size
    total += size + (Array.isArray(value) ? 1 : key.length + 4)
    if (total > budget) return total
  }
  return total
}

/** What JSON.stringify would turn into something else without a word. */
function isOpaque(value: object): boolean {
  return (
    value instanceof Map ||
    value instanceof Set ||
    value instanceof Date ||
    value instanceof Promise ||
    value instanceof RegExp ||
    value instanceof Error ||
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer
  )
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
