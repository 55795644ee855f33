import type { LlmResponse } from '@google/adk'

/** Takes partial answers of a model out of the stream that ADK reads. */
export interface PartialTaker {
  /** Whether it has taken this answer. */
  take(answer: LlmResponse): boolean
  /** A promise to await before the next one; undefined when there is no need to wait. */
  room(): Promise<void> | undefined
}

type Answers = AsyncGenerator<LlmResponse, void>

/** The answers that the taker does not take. */
export function withoutTaken(answers: Answers, taker: PartialTaker | undefined): Answers {
  return taker === undefined ? answers : left(answers, taker)
}

async function* left(answers: Answers, taker: PartialTaker): Answers {
  for await (const answer of answers) {
    if (answer.partial === true && taker.take(answer)) {
      const room = taker.room()
      if (room !== undefined) await room
    } else yield answer
  }
}
