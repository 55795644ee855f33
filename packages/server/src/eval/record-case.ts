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
 * Runs the agent with its models, then twice more with the recorded answers: what differs then is not judged. An agent that
 * sends its model the time of day, for example, gets a case without `requests`.
 */
export async function recordCase(
  one: Pick<RecordedCase, 'agent' | 'description' | 'begin'> & {
    readonly turns: readonly CaseTurn[]
    /** Replaces the strictest judges, for a case that has its own. */
    readonly judge?: CaseJudge
  },
  setting: CaseSetting,
): Promise<MadeCase> {
  const draft: RecordedCase = { case: 1, ...one, judge: one.judge ?? strictest }
  const verdict = await runRecordedCase(draft, { ...setting, live: true })
  const first = recordedAs(draft, verdict)
  const again = await runRecordedCase(first, { ...setting, live: false })
  // The order of parallel calls, and with it the prints, may settle only in the second run.
  const settled = again.findings.some(({ judge }) => judge === 'requests') ? recordedAs(first, again) : first
  const last = settled === first ? again : await runRecordedCase(settled, { ...setting, live: false })
  const unsteady = [...new Set(last.findings.map(({ judge }) => judge))].filter((judge) => judge !== 'outcome')
  if (one.judge !== undefined) return { made: settled, verdict, unsteady: [] }
  const judge = Object.fromEntries(
    Object.entries(draft.judge).filter(([name]) => !unsteady.includes(name as keyof CaseJudge)),
  ) as CaseJudge
  const { state, ...rest } = settled
  return {
    made: { ...rest, ...(judge.state === true && state !== undefined ? { state } : {}), judge },
    verdict,
    unsteady,
  }
}
