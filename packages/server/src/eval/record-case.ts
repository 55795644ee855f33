import { defined } from '@millrace/core'
import type { CaseJudge, CaseTurn, RecordedCase } from './case-file.ts'
import { type CaseSetting, type CaseVerdict, recordedAs, runRecordedCase } from './case-run.ts'

/** Everything that a recording may promise. */
const strictest: CaseJudge = {
  trajectory: 'exact',
  response: { text: true },
  figures: true,
  requests: true,
  state: true,
}

export interface MadeCase {
  readonly made: RecordedCase
  readonly verdict: CaseVerdict
  /** The judges that the case does not have, because the agent does not do the same twice. */
  readonly unsteady: readonly (keyof CaseJudge)[]
}

/**
 * Runs the agent with its models, or with their answers from a log, then once or twice more with the recorded answers: what differs then is not judged. An agent that
 * sends its model the time of day, for example, gets a case without `requests`.
 */
export async function recordCase(
  one: Pick<RecordedCase, 'agent' | 'description' | 'begin'> & {
    readonly turns: readonly CaseTurn[]
    /** Replaces the strictest judges, for a case that has its own. */
    readonly judge?: CaseJudge
    /** What the models answered, from a log; absent: they are called. */
    readonly answers?: NonNullable<RecordedCase['answers']>
  },
  setting: CaseSetting,
): Promise<MadeCase> {
  const { judge: wanted = strictest, ...more } = one
  const draft: RecordedCase = { case: 1, ...more, judge: wanted }
  const verdict = await runRecordedCase(draft, { ...setting, live: one.answers === undefined })
  const first = recordedAs(draft, verdict)
  const again = await runRecordedCase(first, { ...setting, live: false })
  // The order of parallel calls, and with it the prints, may settle only in the second run.
  const settled = again.findings.some(({ judge }) => judge === 'requests') ? recordedAs(first, again) : first
  const last = settled === first ? again : await runRecordedCase(settled, { ...setting, live: false })
  const unsteady = [...new Set(last.findings.map(({ judge }) => judge))].filter((judge) => judge !== 'outcome')
  if (one.judge !== undefined) return { made: ordered(settled, one.judge), verdict, unsteady: [] }
  const judge = Object.fromEntries(
    Object.entries(draft.judge).filter(([name]) => !unsteady.includes(name as keyof CaseJudge)),
  ) as CaseJudge
  return { made: ordered(settled, judge), verdict, unsteady }
}

/** The fields in the order in which people read them. */
function ordered(one: RecordedCase, judge: CaseJudge): RecordedCase {
  const { agent, description, begin, turns, state, answers } = one
  return {
    case: 1,
    agent,
    ...defined({ description, begin }),
    turns,
    ...(judge.state === true ? defined({ state }) : {}),
    judge,
    ...defined({ answers }),
  }
}
