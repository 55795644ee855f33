import type { JsonObject } from '../json/json.ts'
import { plainJson } from '../json/wide-object.ts'
import type { Interrupted, Recorded, Resumed } from './run-event.ts'
import { applyState } from './state-fold.ts'
import { isPartial } from './streaming.ts'

/**
 * What the rows of a session add up to: all that a new run needs to know of it. Partials change nothing here, so that
 * a log may leave them out, and pruning them changes no fact (SPEC 2.9).
 */
export interface SessionFacts {
  /** The rows up to this seq are counted. */
  readonly seq: number
  readonly state: JsonObject
  /** The run that started last, while it has no `run.finished`, and the seq of its start. */
  readonly openRun: RunPlace | undefined
  /** The places from which runs of this session were forked, as JSON. */
  readonly forks: ReadonlySet<string>
  /** Questions without an answer, by id. */
  readonly open: ReadonlyMap<string, Interrupted>
  readonly answers: ReadonlyMap<string, Resumed>
  /** Every question, with the run that asked it and the run that answered it, by id. */
  readonly asked: ReadonlyMap<string, AskedQuestion>
  /** The runs whose place another run has taken (SPEC 4.7). */
  readonly replaced: ReadonlySet<string>
  /** The version of each artifact that was saved or announced last, by name. */
  readonly artifacts: ReadonlyMap<string, number>
}

export interface AskedQuestion {
  readonly event: Interrupted
  readonly run: string
  readonly answeredBy?: string
}

export interface RunPlace {
  readonly run: string
  readonly seq: number
}

/** Where a stream of a run may begin: the first rows of the run, and what came before them. */
export interface StreamBase {
  readonly rows: readonly Recorded[]
  /** What the rows before add up to. */
  readonly facts: SessionFacts
  /** The rows before themselves, perhaps without partials of whole messages in ended runs (SPEC 5.3). */
  readonly earlier: () => Promise<readonly Recorded[]>
}

/** The facts of a session without rows. */
export const noFacts: SessionFacts = {
  seq: 0,
  state: {},
  openRun: undefined,
  forks: new Set(),
  open: new Map(),
  answers: new Map(),
  asked: new Map(),
  replaced: new Set(),
  artifacts: new Map(),
}

/** The facts after these rows, given the facts before them. */
export function sessionFacts(rows: Iterable<Recorded>, before: SessionFacts = noFacts): SessionFacts {
  const fold = factsFold(before)
  for (const row of rows) fold.push(row)
  return fold.facts()
}

/** Adds rows to facts one by one, for a reader that has them in pages. */
export interface FactsFold {
  push(row: Recorded): void
  facts(): SessionFacts
}

export function factsFold(before: SessionFacts): FactsFold {
  let { seq, state, openRun } = before
  const forks = new Set(before.forks)
  const open = new Map(before.open)
  const answers = new Map(before.answers)
  const asked = new Map(before.asked)
  const replaced = new Set(before.replaced)
  const artifacts = new Map(before.artifacts)
  const push = (row: Recorded): void => {
    const { run, event } = row
    seq = row.seq
    state = applyState(state, event)
    switch (event.kind) {
      case 'run.started':
        openRun = { run, seq }
        if (event.forkOf !== undefined) forks.add(placeText(event.forkOf))
        for (const { run: gone } of event.replaces ?? []) replaced.add(gone)
        if (event.replaces !== undefined) dropReplaced({ asked, open, answers }, replaced)
        break
      case 'run.finished':
        if (openRun?.run === run) openRun = undefined
        break
      case 'interrupt':
        open.delete(event.id) // the latest question comes last
        open.set(event.id, event)
        asked.set(event.id, { event, run })
        break
      case 'resumed':
        open.delete(event.interrupt)
        answers.set(event.interrupt, event)
        answered(asked, event.interrupt, run)
        break
      case 'artifact':
        if (event.deleted !== true) artifacts.set(event.name, event.version)
        break
      case 'agent':
        if (isPartial(event.event)) break
        for (const [name, version] of Object.entries(event.event.actions?.artifactDelta ?? {}))
          artifacts.set(name, version)
        break
      default:
    }
  }
  return {
    push,
    facts: () => ({
      seq,
      state: plainJson(state), // agents are given the state, and may clone it
      openRun,
      forks: new Set(forks),
      open: new Map(open),
      answers: new Map(answers),
      asked: new Map(asked),
      replaced: new Set(replaced),
      artifacts: new Map(artifacts),
    }),
  }
}

function answered(asked: Map<string, AskedQuestion>, id: string, run: string): void {
  const question = asked.get(id)
  if (question !== undefined) asked.set(id, { ...question, answeredBy: run })
}

/** A question of a replaced run is void, and one that such a run answered is open again. */
function dropReplaced(
  questions: {
    readonly asked: ReadonlyMap<string, AskedQuestion>
    readonly open: Map<string, Interrupted>
    readonly answers: Map<string, Resumed>
  },
  replaced: ReadonlySet<string>,
): void {
  for (const [id, { event, run, answeredBy }] of questions.asked) {
    if (replaced.has(run)) questions.open.delete(id)
    else if (answeredBy !== undefined && replaced.has(answeredBy)) {
      questions.open.set(id, event)
      questions.answers.delete(id)
    }
  }
}

/** A place of a session as one text. */
export function placeText({ session, seq }: { readonly session: string; readonly seq: number }): string {
  return JSON.stringify([session, seq])
}
