import type { Interrupted, Resumed } from '../event/run-event.ts'
import type { AskedQuestion, SessionFacts } from '../event/session-facts.ts'
import { isObject } from '../json/json.ts'

/**
 * The version of the fold: raise it whenever `sessionFacts` or the text below changes. A store ignores a checkpoint of
 * another version and makes a new one from the rows.
 */
export const factsVersion = 2

interface StoredFacts extends Pick<SessionFacts, 'seq' | 'state' | 'openRun'> {
  readonly forks: readonly string[]
  readonly open: readonly Interrupted[]
  readonly answers: readonly Resumed[]
  readonly asked: readonly AskedQuestion[]
  readonly replaced: readonly string[]
  readonly artifacts: readonly (readonly [string, number])[]
}

/** Facts as text, for a checkpoint beside the log. */
export function printFacts(facts: SessionFacts): string {
  const { seq, state, openRun, forks, open, answers, asked, replaced, artifacts } = facts
  return JSON.stringify({
    seq,
    state,
    ...(openRun === undefined ? {} : { openRun }),
    forks: [...forks],
    open: [...open.values()],
    answers: [...answers.values()],
    asked: [...asked.values()],
    replaced: [...replaced],
    artifacts: [...artifacts],
  })
}

/** The facts of a checkpoint; undefined for text that `printFacts` did not write. */
export function readFacts(text: string): SessionFacts | undefined {
  try {
    const parsed: StoredFacts = JSON.parse(text)
    if (!Number.isInteger(parsed.seq) || !isObject(parsed.state)) return undefined
    return {
      seq: parsed.seq,
      state: parsed.state,
      openRun: parsed.openRun,
      forks: new Set(parsed.forks),
      open: new Map(parsed.open.map((one) => [one.id, one])),
      answers: new Map(parsed.answers.map((one) => [one.interrupt, one])),
      asked: new Map(parsed.asked.map((one) => [one.event.id, one])),
      replaced: new Set(parsed.replaced),
      artifacts: new Map(parsed.artifacts),
    }
  } catch {
    return undefined
  }
}
