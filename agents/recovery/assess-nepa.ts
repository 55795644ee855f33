import { assessSalvage } from './assess-salvage.ts'
import { type Regulation, regulations } from './data/regulations.ts'

const found = (id: string): Regulation => {
  const rule = regulations.find((regulation) => regulation.id === id)
  if (rule === undefined) throw new Error(`the regulation ${id} is missing from the data`)
  return rule
}
const cite = ({ reference, title, uri }: Regulation) => ({ source: reference, reference: title, uri })

/** The review that a salvage of this many acres needs, and the trail repairs that come with it. */
export function assessNepa(salvageAcres: number, temporaryRoadMiles = 0) {
  const exclusion = found('ce-e13')
  const fits = salvageAcres <= (exclusion.maxAcres ?? 0) && temporaryRoadMiles <= (exclusion.maxTemporaryRoadMiles ?? 0)
  const salvage = fits ? exclusion : found('ea-salvage')
  const trails = found('ce-d4')
  const emergency = found('esd')
  return {
    salvage: {
      acres: salvageAcres,
      pathway: fits ? 'categorical exclusion' : 'environmental assessment',
      regulatory_basis: salvage.reference,
      summary: salvage.summary,
      exclusion: {
        reference: exclusion.reference,
        max_acres: exclusion.maxAcres ?? 0,
        max_temporary_road_miles: exclusion.maxTemporaryRoadMiles ?? 0,
      },
      confidence: 0.95,
    },
    trails: {
      pathway: 'categorical exclusion',
      regulatory_basis: trails.reference,
      summary: trails.summary,
      confidence: 0.9,
    },
    emergency: { regulatory_basis: emergency.reference, summary: emergency.summary },
    proof_layer: {
      // The lower of the two: salvage follows a rule with numbers, trail repair an interpretation of its wording.
      confidence: 0.9,
      citations: [salvage, trails, emergency].map(cite),
      reasoning_chain: [
        `Read ${regulations.length} regulation extracts`,
        `Compared ${salvageAcres} acres and ${temporaryRoadMiles} miles of temporary road with the limits of ${exclusion.reference} (${exclusion.maxAcres} acres, ${exclusion.maxTemporaryRoadMiles} miles): ${fits ? 'within' : 'beyond'} them`,
        `Placed trail repair under ${trails.reference}`,
      ],
    },
  }
}

/** The pathway for this many acres; without a number, for every plot that is worth salvaging. */
export function decidePathway(fireId: string, salvageAcres?: number, temporaryRoadMiles?: number) {
  if (salvageAcres !== undefined) return assessNepa(salvageAcres, temporaryRoadMiles)
  const salvage = assessSalvage(fireId)
  return 'error' in salvage ? salvage : assessNepa(salvage.viable_acres, temporaryRoadMiles)
}
