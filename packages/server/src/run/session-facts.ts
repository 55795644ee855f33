import {
  applyState,
  defined,
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
  /** The `run.started` of a run without `run.finished`. */
  readonly openRun: Recorded | undefined
  /** The places from which runs of this session were forked, as JSON. */
  readonly forks: ReadonlySet<string>
  /** Questions without an answer, by id. */
  readonly open: ReadonlyMap<string, Interrupted>
  readonly answers: ReadonlyMap<string, Resumed>
  /** Every question, with the run that asked it and the run that answered it. */
  readonly asked: ReadonlyMap<string, Interrupted>
  readonly places: ReadonlyMap<string, { readonly asked: string; readonly answered?: string }>
  /** The runs whose place another run has taken (SPEC 4.7). */
  readonly replaced: ReadonlySet<string>
}

/** The facts of a session without rows. */
export const noFacts: SessionFacts = {
  state: {},
  runs: new Set(),
  openRun: undefined,
  forks: new Set(),
  open: new Map(),
  answers: new Map(),
  asked: new Map(),
  places: new Map(),
  replaced: new Set(),
}

/** The facts after these rows, given the facts before them. */
export function sessionFacts(rows: readonly Recorded[], before: SessionFacts = noFacts): SessionFacts {
  let { state, openRun } = before
  const runs = new Set(before.runs)
  const forks = new Set(before.forks)
  const open = new Map(before.open)
  const answers = new Map(before.answers)
  const asked = new Map(before.asked)
  const places = new Map(before.places)
  const replaced = new Set(before.replaced)
  for (const row of rows) {
    const { run, event } = row
    state = applyState(state, event)
    switch (event.kind) {
      case 'run.started':
        runs.add(run)
        openRun = row
        if (event.forkOf !== undefined) forks.add(placeOf(event.forkOf))
        for (const { run: gone } of event.replaces ?? []) replaced.add(gone)
        if (event.replaces !== undefined) withoutReplaced({ asked, open, answers, places }, replaced)
        break
      case 'run.finished':
        if (openRun?.run === run) openRun = undefined
        break
      case 'interrupt':
        open.set(event.id, event)
        asked.set(event.id, event)
        places.set(event.id, { asked: run })
        break
      case 'resumed':
        open.delete(event.interrupt)
        answers.set(event.interrupt, event)
        places.set(event.interrupt, { asked: '', ...places.get(event.interrupt), answered: run })
        break
      default:
    }
  }
  return { state, runs, openRun, forks, open, answers, asked, places, replaced }
}

/** A question of a replaced run is void, and one that such a run answered is open again. */
function withoutReplaced(
  questions: {
    readonly asked: ReadonlyMap<string, Interrupted>
    readonly open: Map<string, Interrupted>
    readonly answers: Map<string, Resumed>
    readonly places: ReadonlyMap<string, { readonly asked: string; readonly answered?: string }>
  },
  replaced: ReadonlySet<string>,
): void {
  for (const [id, place] of questions.places) {
    const event = questions.asked.get(id)
    if (replaced.has(place.asked)) questions.open.delete(id)
    else if (event !== undefined && place.answered !== undefined && replaced.has(place.answered)) {
      questions.open.set(id, event)
      questions.answers.delete(id)
    }
  }
}

export function placeOf({ session, seq }: { readonly session: string; readonly seq: number }): string {
  return JSON.stringify([session, seq])
}

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
