import {
  defined,
  type InputMessage,
  type Interrupted,
  type JsonObject,
  MillraceError,
  type Resumed,
  type RunInput,
  type SessionFacts,
} from '@millrace/core'

/**
 * The answers that an input gives: in `resume`, or as the response to the function call that waits. An answer that
 * repeats an earlier one is accepted, as in AG-UI.
 */
export function answersOf(input: RunInput, { open, answers }: SessionFacts, now: number): readonly Resumed[] {
  const given = new Map<string, Resumed>()
  for (const { interrupt, status, payload } of input.resume ?? []) {
    const asked = open.get(interrupt)
    const answer: Resumed = { kind: 'resumed', interrupt, status, ...defined({ payload }) }
    if (asked === undefined) {
      if (!sameAnswer(answers.get(interrupt), answer))
        throw invalid(`the session has no open question ${interrupt}`, interrupt)
    } else if (status === 'resolved' && isStale(asked, now))
      throw invalid(`the question ${interrupt} has expired`, interrupt)
    else given.set(interrupt, answer)
  }
  for (const { id, response } of responsesIn(input.messages)) {
    const asked = open.get(id) ?? [...open.values()].find(({ call }) => call === id)
    if (asked === undefined || given.has(asked.id)) continue
    given.set(asked.id, {
      kind: 'resumed',
      interrupt: asked.id,
      status: 'resolved',
      ...defined({ payload: response }),
    })
  }
  return [...given.values()]
}

/** Refuses to start a run that leaves a question open, for agents that could not go on without the answer (SPEC 4.5). */
export function checkAnswered({ open }: SessionFacts, given: readonly Resumed[]): void {
  for (const id of open.keys()) {
    if (!given.some(({ interrupt }) => interrupt === id))
      throw invalid(`the question ${id} is open; answer it in \`resume\``, id)
  }
}

function responsesIn(messages: readonly InputMessage[]): readonly { id: string; response: JsonObject | undefined }[] {
  return messages
    .flatMap(({ content }) => content.parts ?? [])
    .flatMap(({ functionResponse }) =>
      functionResponse?.id === undefined ? [] : [{ id: functionResponse.id, response: functionResponse.response }],
    )
}

function sameAnswer(before: Resumed | undefined, again: Resumed): boolean {
  return before?.status === again.status && JSON.stringify(before.payload) === JSON.stringify(again.payload)
}

function isStale({ expiresAt }: Interrupted, now: number): boolean {
  const until = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt)
  return until <= now
}

function invalid(message: string, interrupt: string): MillraceError {
  return new MillraceError('invalid', message, { interrupt })
}
