import type { Reasoning, ReasoningStep } from './proof-fact.ts'

/** The calls that one agent made on one branch of one run, in order: its reasoning, when it states none itself. */
export interface Lane {
  readonly steps: readonly (ReasoningStep & { readonly message: string })[]
  readonly omitted: number
}

/** A chain longer than this is not read by a person, and would be copied into every answer. */
const longest = 100

export const newLane: Lane = { steps: [], omitted: 0 }

export function laneKey(author: string, branch: string | undefined): string {
  return `${author}\n${branch ?? ''}`
}

export function withCall(lane: Lane, message: string, call: string | undefined, name: string, seq: number): Lane {
  const step = { text: name, ...(call === undefined ? {} : { call }), asked: seq, message }
  if (lane.steps.length < longest) return { ...lane, steps: [...lane.steps, step] }
  return { steps: [...lane.steps.slice(1), step], omitted: lane.omitted + 1 }
}

/** Responses answer their call by id; on wires without ids, the oldest open call of the same name. */
export function withResponse(lane: Lane, call: string | undefined, name: string, seq: number, failed: boolean): Lane {
  const at =
    call === undefined
      ? lane.steps.findIndex((step) => step.text === name && step.answered === undefined)
      : lane.steps.findLastIndex((step) => step.call === call)
  const step = lane.steps[at]
  if (step === undefined) return lane
  return { ...lane, steps: lane.steps.with(at, { ...step, answered: seq, ...(failed ? { failed: true } : {}) }) }
}

export function withoutMessages(lane: Lane, messages: ReadonlySet<string>): Lane {
  const steps = lane.steps.filter((step) => !messages.has(step.message))
  return steps.length === lane.steps.length ? lane : { ...lane, steps }
}

export function reasoningOf(lane: Lane | undefined): Reasoning | undefined {
  if (lane === undefined || lane.steps.length === 0) return undefined
  return { origin: 'sequence', steps: lane.steps.map(({ message: _, ...step }) => step), omitted: lane.omitted }
}
