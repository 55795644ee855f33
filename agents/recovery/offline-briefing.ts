interface Answer {
  readonly name: string
  readonly response: Readonly<Record<string, unknown>>
}

/** What a specialist answered, as text. */
export const text = (answer: Readonly<Record<string, unknown>> | undefined): string =>
  typeof answer?.result === 'string' ? answer.result : typeof answer?.error === 'string' ? answer.error : ''

/** The latest answer of a specialist: a follow-up replaces what was said before. */
const answerOf = (results: readonly Answer[], specialist: string): string =>
  text(results.findLast(({ name }) => name === specialist)?.response)

const found = (source: string, pattern: RegExp): string => pattern.exec(source)?.[1] ?? 'not stated'
const line = (source: string, section: string): string =>
  new RegExp(`### \\d+\\. ${section}\\n([^\\n]+)`).exec(source)?.[1] ?? 'No answer.'

/** The coordinator's synthesis: every figure is one that a specialist stated, the overall confidence is the lowest. */
export function briefing(results: readonly Answer[]): string {
  const burn = answerOf(results, 'burn_analyst')
  const trails = answerOf(results, 'trail_assessor')
  const timber = text(results.find(({ name }) => name === 'cruising_assistant')?.response)
  const nepa = answerOf(results, 'nepa_advisor')
  const first = answerOf(results, 'cruising_assistant')
  const confidence = (source: string): string => found(source, /\*\*Confidence:\*\* (\d+)%/)
  const [salvageSure = '', trailsSure = ''] = [...nepa.matchAll(/\*\*Confidence:\*\* High \((\d+)%\)/g)].map(
    ([, value = '']) => value,
  )
  const sure = [confidence(burn), confidence(trails), confidence(timber), salvageSure, trailsSure]
    .map(Number)
    .filter(Number.isFinite)
  const overall = sure.length === 0 ? '' : `**Overall Confidence:** ${Math.min(...sure)}%\n\n`
  const closed = [...trails.matchAll(/^- ([^:\n]+#[\d.]+):/gm)].map(([, trail = '']) => trail)
  const plots = [...first.matchAll(/^- (TP-\d+)/gm)].slice(0, 3).map(([, plot = '']) => plot)
  return `**Fire Severity:** ${line(burn, 'Summary')} (Confidence: ${confidence(burn)}%)

**Infrastructure Damage:** ${line(trails, 'Summary')} (Confidence: ${confidence(trails)}%)

**Timber Salvage:** ${line(timber, 'Summary')} (Confidence: ${confidence(timber)}%)

**NEPA Pathway:** ${line(nepa, 'Timber Salvage')} Trail repair: ${line(nepa, 'Trail Repair')} (Confidence: ${salvageSure}% for timber, ${trailsSure}% for trails)

${overall}**Recommended Actions:**
1. ${found(burn, /^- (Deploy a BAER team[^\n:]*)/m)}.
2. Establish hazard zones and keep closed: ${closed.join(', ')}.
3. Offer plots ${plots.join(', ')} first, before another year of decay.
4. Document the salvage under ${found(nepa, /\*\*Regulatory Basis:\*\* ([^\n]+)/)}.`
}

/** A narrow question: the one specialist's summary and what it rests on. */
export function narrowAnswer(results: readonly Answer[]): string {
  const answer = text(results.at(-1)?.response)
  return answer === '' ? 'The specialist gave no answer.' : answer
}
