import type { Reasoning, ReasoningStep } from './fact.ts'

/** The calls that one agent made on one branch of one run, in order: its reasoning, if it states none itself. */
export interface ReasoningTrack {
  /** Shared with the answers: copied when it changes, not when it is read. */
  readonly steps: readonly ReasoningStep[]
  /** The message of each step. */
  readonly messages: readonly string[]
  readonly omitted: number
}

/** No person reads a longer chain, and it would be copied into every answer. */
const longest = 100

export const newReasoningTrack: ReasoningTrack = { steps: [], messages: [], omitted: 0 }

export function speakerKey(author: string, branch: string | undefined): string {
  return `${author}\n${branch ?? ''}`
}

export function withCall(
  chain: ReasoningTrack,
  message: string,
  call: string | undefined,
  name: string,
  seq: number,
): ReasoningTrack {
  const step = { text: name, ...(call === undefined ? {} : { call }), asked: seq }
  const full = chain.steps.length >= longest ? 1 : 0
  return {
    steps: [...chain.steps.slice(full), step],
    messages: [...chain.messages.slice(full), message],
    omitted: chain.omitted + full,
  }
}

/** A response answers the call with its id or, on wires without ids, the oldest open call of its name. */
export function withResponse(
  chain: ReasoningTrack,
  call: string | undefined,
  name: string,
  seq: number,
  failed: boolean,
): ReasoningTrack {
  const at =
    call === undefined
      ? chain.steps.findIndex((step) => step.text === name && step.answered === undefined)
      : chain.steps.findLastIndex((step) => step.call === call)
  const step = chain.steps[at]
  if (step === undefined) return chain
  return { ...chain, steps: chain.steps.with(at, { ...step, answered: seq, ...(failed ? { failed: true } : {}) }) }
}

export function withoutMessages(chain: ReasoningTrack, gone: ReadonlySet<string>): ReasoningTrack {
  const kept = chain.messages.map((message) => !gone.has(message))
  if (kept.every((keep) => keep)) return chain
  const steps = chain.steps.filter((_, index) => kept[index])
  return { ...chain, steps, messages: chain.messages.filter((_, index) => kept[index]) }
}

export function reasoningOf(chain: ReasoningTrack | undefined): Reasoning | undefined {
  if (chain === undefined || chain.steps.length === 0) return undefined
  return { origin: 'sequence', steps: chain.steps, omitted: chain.omitted }
}
