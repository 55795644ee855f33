import { defined } from '@millrace/core'
import { call, type OfflineRequest, type OfflineScript, type OfflineTurn, say } from '@millrace/server/adk'
import { amountIn, areas, lengths } from './amounts.ts'
import type { assessBurn } from './assess-burn.ts'
import type { assessNepa } from './assess-nepa.ts'
import type { assessSalvage } from './assess-salvage.ts'
import type { assessTrails } from './assess-trails.ts'
import { fireById, fireIn, knownFires } from './data/fires.ts'
import { briefing, briefingText, narrowAnswer } from './offline-briefing.ts'

type Burn = Exclude<ReturnType<typeof assessBurn>, { error: string }>
type Trails = Exclude<ReturnType<typeof assessTrails>, { error: string }>
type Salvage = Exclude<ReturnType<typeof assessSalvage>, { error: string }>
type Nepa = ReturnType<typeof assessNepa>

/** The offline script of the five agents: text around the figures that the tools computed. */
export const recoveryScript: OfflineScript = {
  coordinator,
  burn_analyst: (request) => report(request, 'assess_severity', { fire_id: fireOf(request.user) }, burnReport),
  trail_assessor: (request) => report(request, 'classify_damage', { fire_id: fireOf(request.user) }, trailReport),
  cruising_assistant(request) {
    const sectors = /sectors:([\w,-]+)/.exec(request.user)?.[1]?.split(',')
    const args = { fire_id: fireOf(request.user), ...(sectors === undefined ? {} : { sectors }) }
    return report(request, 'assess_salvage', args, salvageReport)
  },
  nepa_advisor(request) {
    const salvage_acres = amountIn(request.user, areas)
    const temporary_road_miles = amountIn(request.user, lengths)
    const args = { fire_id: fireOf(request.user), ...defined({ salvage_acres, temporary_road_miles }) }
    return report(request, 'decide_pathway', args, nepaReport)
  },
}

function fireOf(text: string): string {
  const named = fireIn(text)
  return 'fire' in named ? named.fire.id : named.other
}

/** Calls the tool, then reports its result; the error of a failed tool is passed on. */
function report<T>(
  { step, result }: OfflineRequest,
  tool: string,
  args: Parameters<typeof call>[1],
  format: (found: T) => string,
): OfflineTurn {
  if (step === 0) return call(tool, args)
  const found = result(tool)
  if (found === undefined || typeof found.error === 'string')
    return `I could not assess this: ${found?.error ?? 'the tool gave no answer'}`
  return format(found as T)
}

/** A question about a road is one about the rule, whatever else it has. */
const isAboutRoad = (text: string): boolean => /\broads?\b/i.test(text) && amountIn(text, lengths) !== undefined

const wanted: readonly { readonly about: RegExp; readonly specialist: string }[] = [
  { about: /burn|sever|dnbr|soil/i, specialist: 'burn_analyst' },
  { about: /trail|bridge|clos/i, specialist: 'trail_assessor' },
  { about: /timber|salvage.*worth|volume|value|cruis/i, specialist: 'cruising_assistant' },
  {
    about: /nepa|pathway|regulation|exclusion|cfr|assessment|salvage|acres?\b|hectares?\b|temporary road/i,
    specialist: 'nepa_advisor',
  },
]

/** Asks all four at once, then two follow-ups, then writes the briefing. A narrow question goes to one specialist. */
function coordinator(request: OfflineRequest): OfflineTurn {
  const { user, step, results } = request
  const named = fireIn(user)
  if ('other' in named) {
    return `I have data for ${knownFires} only. I have none for ${named.other}, so I give no figures for it. Ask me about the ${knownFires} Fire.`
  }
  const fire = `fire_id:${named.fire.id}`
  const narrow = /briefing|everything|overview/i.test(user)
    ? undefined
    : wanted.find(({ about, specialist }) => (isAboutRoad(user) ? specialist === 'nepa_advisor' : about.test(user)))
  if (narrow !== undefined) {
    if (step === 0) return call(narrow.specialist, { request: `${fire} ${user}` })
    return say(narrowAnswer(results))
  }
  if (!/briefing|fire|recover|cedar/i.test(user)) {
    return 'I coordinate post-fire recovery for the Cedar Creek Fire. Ask me for a recovery briefing, or about severity, trails, timber or NEPA.'
  }
  if (step === 0) return wanted.map(({ specialist }) => call(specialist, { request: fire }))
  if (step === 1) return followUps(request, fire)
  return say(briefing(results))
}

/** Asks about the plots where the fire was worst, and whether a salvage of those alone needs less review. */
function followUps({ result }: OfflineRequest, fire: string): OfflineTurn {
  const high = [...briefingText(result('burn_analyst')).matchAll(/^- ([A-Z]+-\d+):/gm)].map(([, id = '']) => id)
  const plots = [...briefingText(result('cruising_assistant')).matchAll(/^- TP-\d+ \(([\w-]+), [^,]+, (\d+) acres\)/gm)]
  const acres = plots.reduce((sum, [, sector = '', size]) => sum + (high.includes(sector) ? Number(size) : 0), 0)
  return [
    call('cruising_assistant', { request: `${fire} sectors:${high.join(',')} Which plots first?` }),
    call('nepa_advisor', {
      request: `${fire} Which pathway for a salvage of ${acres} acres, in the high-severity sectors alone?`,
    }),
  ]
}

const number = (value: number): string => value.toLocaleString('en-US')
const percent = (confidence: number): string => `${Math.round(confidence * 100)}%`

const sourcesOf = ({ citations }: { citations: readonly { source: string; reference: string }[] }): string =>
  citations.map(({ source, reference }) => `${source} (${reference})`).join('; ')

function burnReport({ fire_id, total_acres, breakdown, high_severity, erosion_concern, proof_layer }: Burn): string {
  const high = breakdown.find(({ severity }) => severity === 'HIGH')
  return `### 1. Summary
The ${fireById(fire_id)?.name} Fire burned ${number(total_acres)} acres; ${high?.percent}% of them (${number(high?.acres ?? 0)} acres in ${high?.sectors} sectors) at high severity.

### 2. Severity Breakdown
| class | sectors | acres | share |
|---|---|---|---|
${breakdown.map(({ severity, sectors, acres, percent: share }) => `| ${severity} | ${sectors} | ${number(acres)} | ${share}% |`).join('\n')}

### 3. Priority Areas
${high_severity.map(({ id, name, acres, dnbr }) => `- ${id}: ${name} (HIGH severity, ${number(acres)} acres, dNBR ${dnbr})`).join('\n')}

### 4. Recommendations
- Deploy a BAER team to ${erosion_concern.join(', ')} first: high severity on steep slopes.

### 5. Confidence & Source
**Confidence:** ${percent(proof_layer.confidence)}
**Source:** ${sourcesOf(proof_layer)}
`
}

function trailReport({
  damage_points,
  severe_points,
  trails_surveyed,
  closures,
  repair_usd,
  worst,
  proof_layer,
}: Trails): string {
  return `### 1. Summary
${damage_points} damage points on ${trails_surveyed} trails, ${severe_points} of them severe. ${closures.length} trails must stay closed; repairs come to $${number(repair_usd)}.

### 2. Closures
${closures.map(({ trail, because }) => `- ${trail}: ${because.join('; ')}`).join('\n')}

### 3. Worst Points
${worst.map(({ id, trail, type, score }) => `- ${id}: ${type} on ${trail} (score ${score} of 5)`).join('\n')}

### 4. Confidence & Source
**Confidence:** ${percent(proof_layer.confidence)}
**Source:** ${sourcesOf(proof_layer)}
`
}

function salvageReport({
  plots,
  viable_plots,
  viable_acres,
  net_mbf,
  value_usd,
  priority,
  left_standing,
  proof_layer,
}: Salvage): string {
  return `### 1. Summary
${viable_plots} of ${plots} plots are worth salvaging: ${number(net_mbf)} MBF, $${number(value_usd)} net of logging and hauling.

**Viable area:** ${number(viable_acres)} acres

### 2. Priority Plots
${priority.map(({ plot, sector, species, acres, net_mbf: mbf, value_usd: value }) => `- ${plot} (${sector}, ${species}, ${acres} acres): ${number(mbf)} MBF, $${number(value)}`).join('\n')}

### 3. Left Standing
${left_standing.length === 0 ? 'None: every plot pays for itself.' : `${left_standing.join(', ')}: getting the logs out costs more than they are worth.`}

### 4. Confidence & Source
**Confidence:** ${percent(proof_layer.confidence)}
**Source:** ${sourcesOf(proof_layer)}
`
}

function nepaReport({ salvage, trails, emergency, not_checked, proof_layer }: Nepa): string {
  const { reference, max_acres, max_temporary_road_miles } = salvage.exclusion
  const limits = `${number(max_acres)} acres and ${max_temporary_road_miles} miles of temporary road`
  const { temporary_road_miles: miles } = salvage
  const road = miles === 0 ? '' : ` with ${miles} miles of temporary road`
  const verdict =
    salvage.pathway === 'categorical exclusion'
      ? `fits a categorical exclusion (${reference} allows ${limits}).`
      : `needs an environmental assessment (${reference} excludes no more than ${limits}: ${salvage.beyond.join('; ')}).`
  return `### 1. Timber Salvage
A salvage of ${number(salvage.acres)} acres${road} ${verdict}
**Regulatory Basis:** ${salvage.regulatory_basis}

### 2. Trail Repair
${trails.summary}
**Regulatory Basis:** ${trails.regulatory_basis}

### 3. Emergency
${emergency.summary}
**Regulatory Basis:** ${emergency.regulatory_basis}

### 4. Limits & Source
A rule is applied to numbers here, so there is no confidence to state. Not checked: ${not_checked}.
**Source:** ${sourcesOf(proof_layer)}
`
}
