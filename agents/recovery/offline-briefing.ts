interface Answer {
  readonly name: string
  readonly response: Readonly<Record<string, unknown>>
}

/** A specialist's answer as text. */
export const briefingText = (answer: Readonly<Record<string, unknown>> | undefined): string =>
  typeof answer?.result === 'string' ? answer.result : typeof answer?.error === 'string' ? answer.error : ''

/** A specialist's first answer, and its answer to the follow-up, if there was one. */
function answersOf(results: readonly Answer[], specialist: string): readonly [first: string, last: string] {
  const own = results.filter(({ name }) => name === specialist).map(({ response }) => briefingText(response))
  return [own[0] ?? '', own.at(-1) ?? '']
}

const found = (source: string, pattern: RegExp): string => pattern.exec(source)?.[1] ?? 'not stated'
const line = (source: string, section: string): string =>
  new RegExp(`### \\d+\\. ${section}\\n([^\\n]+)`).exec(source)?.[1] ?? 'No answer.'

const sum = (source: string): number => Number(found(source, /\$([\d,]+) net/).replaceAll(',', ''))
const confidence = (source: string): string => found(source, /\*\*Confidence:\*\* (\d+)%/)

/** The coordinator's briefing: every figure comes from a specialist, and the overall confidence is the lowest of
 * those that were measured. */
export function briefing(results: readonly Answer[]): string {
  const [burn] = answersOf(results, 'burn_analyst')
  const [trails] = answersOf(results, 'trail_assessor')
  const [timber, worst] = answersOf(results, 'cruising_assistant')
  const [nepa, narrower] = answersOf(results, 'nepa_advisor')
  const sure = [burn, trails, timber].map((source) => Number(confidence(source))).filter(Number.isFinite)
  const overall =
    sure.length === 0
      ? ''
      : `**Overall Confidence:** ${Math.min(...sure)}%, the lowest of the three assessments. The data set is illustrative, not an official assessment.\n\n`
  const closed = [...trails.matchAll(/^- ([^:\n]+#[\d.]+):/gm)].map(([, trail = '']) => trail)
  const plots = [...worst.matchAll(/^- (TP-\d+)/gm)].slice(0, 3).map(([, plot = '']) => plot)
  return `**Fire Severity:** ${line(burn, 'Summary')} (Confidence: ${confidence(burn)}%)

**Infrastructure Damage:** ${line(trails, 'Summary')} (Confidence: ${confidence(trails)}%)

**Timber Salvage:** ${line(timber, 'Summary')} In the high-severity sectors alone, ${line(worst, 'Summary')} (Confidence: ${confidence(timber)}%)

**NEPA Pathway:** ${line(nepa, 'Timber Salvage')} ${line(narrower, 'Timber Salvage')} ${line(nepa, 'Trail Repair')} (A rule applied to numbers: no confidence is stated.)

${overall}**Recommended Actions:**
1. ${found(burn, /^- (Deploy a BAER team[^\n:]*)/m)}.
2. Establish hazard zones and keep closed: ${closed.join(', ')}.
3. Offer plots ${plots.join(', ')} first, before another year of decay.
4. ${salvageAdvice(timber, worst, nepa, narrower)}`
}

/** Advises the smaller salvage if it avoids an assessment, with its cost; else names the regulation to follow. */
function salvageAdvice(timber: string, worst: string, nepa: string, narrower: string): string {
  const basis = (source: string): string => found(source, /\*\*Regulatory Basis:\*\* ([^\n]+)/)
  const saves = /needs an environmental assessment/.test(nepa) && /fits a categorical exclusion/.test(narrower)
  if (!saves) return `Document the salvage under ${basis(narrower)}.`
  const less = (sum(timber) - sum(worst)).toLocaleString('en-US')
  const acres = found(worst, /\*\*Viable area:\*\* ([\d,]+) acres/)
  return `Keep the salvage to the high-severity sectors: ${acres} acres need no assessment (${basis(narrower)}), at the price of $${less}.`
}

/** The answer to a narrow question: that of the one specialist, with the name of the fire that its figures are of. */
export function narrowAnswer(fire: string, results: readonly Answer[]): string {
  const answer = briefingText(results.at(-1)?.response)
  if (answer === '') return 'The specialist gave no answer.'
  return answer.includes(`${fire} Fire`) ? answer : `For the ${fire} Fire:\n\n${answer}`
}
