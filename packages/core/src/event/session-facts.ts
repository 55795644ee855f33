import type { JsonObject } from '../json/json.ts'
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
  /** The version of each artifact that was saved or announced last, by name. */
  readonly artifacts: ReadonlyMap<string, number>
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
  artifacts: new Map(),
}

/** The facts after these rows, given the facts before them. */
export function sessionFacts(rows: Iterable<Recorded>, before: SessionFacts = noFacts): SessionFacts {
  let { seq, state, openRun } = before
  const forks = new Set(before.forks)
  const open = new Map(before.open)
  const answers = new Map(before.answers)
  const artifacts = new Map(before.artifacts)
  for (const row of rows) {
    const { run, event } = row
    seq = row.seq
    state = applyState(state, event)
    switch (event.kind) {
      case 'run.started':
        openRun = { run, seq }
        if (event.forkOf !== undefined) forks.add(placeText(event.forkOf))
        break
      case 'run.finished':
        if (openRun?.run === run) openRun = undefined
        break
      case 'interrupt':
        open.delete(event.id) // the latest question comes last
        open.set(event.id, event)
        break
      case 'resumed':
        open.delete(event.interrupt)
        answers.set(event.interrupt, event)
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
  return { seq, state, openRun, forks, open, answers, artifacts }
}

/** A place of a session as one text. */
export function placeText({ session, seq }: { readonly session: string; readonly seq: number }): string {
  return JSON.stringify([session, seq])
}
