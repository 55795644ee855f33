import type { Reasoning, ReasoningStep } from './fact.ts'

/** The calls that one agent made on one branch of one run, in order: its reasoning, when it states none itself. */
export interface ReasoningTrack {
  /** Handed to answers as it is: copied when it changes, not when it is read. */
  readonly steps: readonly ReasoningStep[]
  /** The message that each step stands in. */
  readonly messages: readonly string[]
  readonly omitted: number
}

/** A chain longer than this is not read by a person, and would be copied into every answer. */
const longest = 100

export const newReasoningTrack: ReasoningTrack = { steps: [], messages: [], omitted: 0 }

export function speakerKey(author: string, branch: string | undefined): string {
  return `${author}\n${branch ?? ''}`
}

export function withCall(
  lane: ReasoningTrack,
  message: string,
  call: string | undefined,
  name: string,
  seq: number,
): ReasoningTrack {
  const step = { text: name, ...(call === undefined ? {} : { call }), asked: seq }
  const full = lane.steps.length >= longest ? 1 : 0
  return {
    steps: [...lane.steps.slice(full), step],
    messages: [...lane.messages.slice(full), message],
    omitted: lane.omitted + full,
  }
}

/** Responses answer their call by id; on wires without ids, the oldest open call of the same name. */
export function withResponse(
  lane: ReasoningTrack,
  call: string | undefined,
  name: string,
  seq: number,
  failed: boolean,
): ReasoningTrack {
  const at =
    call === undefined
      ? lane.steps.findIndex((step) => step.text === name && step.answered === undefined)
      : lane.steps.findLastIndex((step) => step.call === call)
  const step = lane.steps[at]
  if (step === undefined) return lane
  return { ...lane, steps: lane.steps.with(at, { ...step, answered: seq, ...(failed ? { failed: true } : {}) }) }
}

export function withoutMessages(lane: ReasoningTrack, gone: ReadonlySet<string>): ReasoningTrack {
  const kept = lane.messages.map((message) => !gone.has(message))
  if (kept.every((keep) => keep)) return lane
  const steps = lane.steps.filter((_, index) => kept[index])
  return { ...lane, steps, messages: lane.messages.filter((_, index) => kept[index]) }
}

export function reasoningOf(lane: ReasoningTrack | undefined): Reasoning | undefined {
  if (lane === undefined || lane.steps.length === 0) return undefined
  return { origin: 'sequence', steps: lane.steps, omitted: lane.omitted }
}
