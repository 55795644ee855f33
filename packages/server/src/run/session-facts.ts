import {
  applyState,
  type InputMessage,
  type Interrupted,
  type JsonObject,
  MillraceError,
  type Recorded,
  type Resumed,
  type RunInput,
} from '@millrace/core'

/** What a new run needs to know of its session. */
export interface SessionFacts {
  readonly state: JsonObject
  readonly runs: ReadonlySet<string>
  /** The start of a run that was not ended. */
  readonly openRun: Recorded | undefined
  /** Where the runs say they were forked from, as JSON. */
  readonly forks: ReadonlySet<string>
  /** Questions without an answer, by id. */
  readonly open: ReadonlyMap<string, Interrupted>
  readonly answers: ReadonlyMap<string, Resumed>
}

/** The facts of a session without rows. */
export const noFacts: SessionFacts = {
  state: {},
  runs: new Set(),
  openRun: undefined,
  forks: new Set(),
  open: new Map(),
  answers: new Map(),
}

/** The facts after these rows, given the facts before them. */
export function sessionFacts(rows: readonly Recorded[], before: SessionFacts = noFacts): SessionFacts {
  let { state, openRun } = before
  const runs = new Set(before.runs)
  const forks = new Set(before.forks)
  const open = new Map(before.open)
  const answers = new Map(before.answers)
  for (const row of rows) {
    const { run, event } = row
    state = applyState(state, event)
    switch (event.kind) {
      case 'run.started':
        runs.add(run)
        openRun = row
        if (event.forkOf !== undefined) forks.add(placeOf(event.forkOf))
        break
      case 'run.finished':
        if (openRun?.run === run) openRun = undefined
        break
      case 'interrupt':
        open.set(event.id, event)
        break
      case 'resumed':
        open.delete(event.interrupt)
        answers.set(event.interrupt, event)
        break
      default:
    }
  }
  return { state, runs, openRun, forks, open, answers }
}

export function placeOf({ session, seq }: { readonly session: string; readonly seq: number }): string {
  return JSON.stringify([session, seq])
}

/**
 * The answers that an input gives: in `resume`, or as the response of the function call that waits. Every open question
 * must be answered, or the agent could not go on; the same answer given again is no harm (AG-UI interrupts).
 */
export function answersOf(input: RunInput, { open, answers }: SessionFacts, now: number): readonly Resumed[] {
  const given = new Map<string, Resumed>()
  for (const { interrupt, status, payload } of input.resume ?? []) {
    const asked = open.get(interrupt)
    const answer: Resumed = { kind: 'resumed', interrupt, status, ...(payload === undefined ? {} : { payload }) }
    if (asked === undefined) {
      if (!sameAnswer(answers.get(interrupt), answer))
        throw invalid(`nothing waits for an answer to ${interrupt}`, interrupt)
    } else if (status === 'resolved' && isStale(asked, now))
      throw invalid(`the question ${interrupt} has expired`, interrupt)
    else given.set(interrupt, answer)
  }
  for (const { id, response } of responsesIn(input.messages)) {
    const asked = open.get(id) ?? [...open.values()].find(({ call }) => call === id)
    if (asked === undefined || given.has(asked.id)) continue
    const payload = response === undefined ? {} : { payload: response }
    given.set(asked.id, { kind: 'resumed', interrupt: asked.id, status: 'resolved', ...payload })
  }
  for (const id of open.keys()) if (!given.has(id)) throw invalid(`the question ${id} is not answered`, id)
  return [...given.values()]
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
