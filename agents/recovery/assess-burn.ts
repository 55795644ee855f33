import { type BurnSector, type BurnSeverity, burnImagery, burnSectors, severityLimits } from './data/burn-sectors.ts'
import { noData } from './data/fires.ts'

const severityOf = (dnbr: number): BurnSeverity =>
  severityLimits.find(({ from }) => dnbr >= from)?.severity ?? 'UNBURNED'
const acresOf = (sectors: readonly BurnSector[]): number => sectors.reduce((sum, { acres }) => sum + acres, 0)
const percent = (part: number, whole: number): number => Math.round((100 * part) / whole)

/** Classifies the sectors of a fire by dNBR; erosion is a concern where high severity meets steep ground. */
export function assessBurn(fireId: string) {
  const sectors = burnSectors[fireId]
  if (sectors === undefined) return noData(fireId)
  const total = acresOf(sectors)
  const breakdown = severityLimits.map(({ severity }) => {
    const members = sectors.filter(({ dnbr }) => severityOf(dnbr) === severity)
    return { severity, sectors: members.length, acres: acresOf(members), percent: percent(acresOf(members), total) }
  })
  const high = sectors.filter(({ dnbr }) => severityOf(dnbr) === 'HIGH')
  const erosion = high.filter(({ slope }) => slope >= 25)
  const confidence = sectors.reduce((sum, { clearView, acres }) => sum + clearView * acres, 0) / total
  return {
    fire_id: fireId,
    total_acres: total,
    breakdown,
    high_severity: high.map(({ id, name, acres, dnbr }) => ({ id, name, acres, dnbr })),
    erosion_concern: erosion.map(({ id }) => id),
    proof_layer: {
      confidence: Number(confidence.toFixed(2)),
      citations: [{ ...burnImagery }],
      reasoning_chain: [
        `Loaded ${sectors.length} burn sectors of ${fireId}`,
        `Classified ${sectors.length} sectors using dNBR thresholds`,
        `Identified ${high.length} high-severity sectors (${percent(acresOf(high), total)}% of total area)`,
        `Found ${erosion.length} of them on slopes of 25 degrees or more`,
      ],
    },
  }
}
