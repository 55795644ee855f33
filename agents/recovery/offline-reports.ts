import type { Acreage } from './acreage.ts'
import type { assessBurn } from './assess-burn.ts'
import type { assessNepa } from './assess-nepa.ts'
import type { assessSalvage } from './assess-salvage.ts'
import type { assessTrails } from './assess-trails.ts'
import { fireById } from './data/fires.ts'

type Burn = Exclude<ReturnType<typeof assessBurn>, { error: string }>
type Trails = Exclude<ReturnType<typeof assessTrails>, { error: string }>
type Salvage = Exclude<ReturnType<typeof assessSalvage>, { error: string }>
type Nepa = ReturnType<typeof assessNepa>

const number = (value: number): string => value.toLocaleString('en-US')
const percent = (confidence: number): string => `${Math.round(confidence * 100)}%`

const sourcesOf = ({ citations }: { citations: readonly { source: string; reference: string }[] }): string =>
  citations.map(({ source, reference }) => `${source} (${reference})`).join('; ')

export function burnReport(
  { fire_id, total_acres, breakdown, high_severity, erosion_concern, proof_layer }: Burn,
  { area, cell, heading }: Acreage,
): string {
  const high = breakdown.find(({ severity }) => severity === 'HIGH')
  return `### 1. Summary
The ${fireById(fire_id)?.name} Fire burned ${area(total_acres)}; ${high?.percent}% of them (${area(high?.acres ?? 0)} in ${high?.sectors} sectors) at high severity.

### 2. Severity Breakdown
| class | sectors | ${heading} | share |
|---|---|---|---|
${breakdown.map(({ severity, sectors, acres, percent: share }) => `| ${severity} | ${sectors} | ${cell(acres)} | ${share}% |`).join('\n')}

### 3. Priority Areas
${high_severity.map(({ id, name, acres, dnbr }) => `- ${id}: ${name} (HIGH severity, ${area(acres)}, dNBR ${dnbr})`).join('\n')}

### 4. Recommendations
- Deploy a BAER team to ${erosion_concern.join(', ')} first: high severity on steep slopes.

### 5. Confidence & Source
**Confidence:** ${percent(proof_layer.confidence)}
**Source:** ${sourcesOf(proof_layer)}
`
}

export function trailReport({
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

export function salvageReport(
  { plots, viable_plots, viable_acres, net_mbf, value_usd, priority, left_standing, proof_layer }: Salvage,
  { area }: Acreage,
): string {
  return `### 1. Summary
${viable_plots} of ${plots} plots are worth salvaging: ${number(net_mbf)} MBF, $${number(value_usd)} net of logging and hauling.

**Viable area:** ${area(viable_acres)}

### 2. Priority Plots
${priority.map(({ plot, sector, species, acres, net_mbf: mbf, value_usd: value }) => `- ${plot} (${sector}, ${species}, ${area(acres)}): ${number(mbf)} MBF, $${number(value)}`).join('\n')}

### 3. Left Standing
${left_standing.length === 0 ? 'None: every plot pays for itself.' : `${left_standing.join(', ')}: getting the logs out costs more than they are worth.`}

### 4. Confidence & Source
**Confidence:** ${percent(proof_layer.confidence)}
**Source:** ${sourcesOf(proof_layer)}
`
}

export function nepaReport({ salvage, trails, emergency, not_checked, proof_layer }: Nepa, { area }: Acreage): string {
  const { reference, max_acres, max_temporary_road_miles } = salvage.exclusion
  const limits = `${area(max_acres)} and ${max_temporary_road_miles} miles of temporary road`
  const { temporary_road_miles: miles } = salvage
  const road = miles === 0 ? '' : ` with ${miles} miles of temporary road`
  const verdict =
    salvage.pathway === 'categorical exclusion'
      ? `fits a categorical exclusion (${reference} allows ${limits}).`
      : `needs an environmental assessment (${reference} excludes no more than ${limits}: ${salvage.beyond.join('; ')}).`
  return `### 1. Timber Salvage
A salvage of ${area(salvage.acres)}${road} ${verdict}
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
