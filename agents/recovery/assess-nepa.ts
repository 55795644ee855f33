import { assessSalvage } from './assess-salvage.ts'
import { fireById, noData } from './data/fires.ts'
import { type Regulation, regulations } from './data/regulations.ts'

const found = (id: string): Regulation => {
  const rule = regulations.find((regulation) => regulation.id === id)
  if (rule === undefined) throw new Error(`the regulation ${id} is missing from the data`)
  return rule
}
const cite = ({ reference, title, uri }: Regulation) => ({ source: reference, reference: title, uri })

/**
 * The review that a salvage of this many acres needs, and the trail repairs that come with it. There is no confidence:
 * numbers are compared with limits, and nothing is measured. What the comparison leaves out is said instead.
 */
export function assessNepa(salvageAcres: number, temporaryRoadMiles = 0) {
  const exclusion = found('ce-e13')
  const maxAcres = exclusion.maxAcres ?? 0
  const maxMiles = exclusion.maxTemporaryRoadMiles ?? 0
  const beyond = [
    ...(salvageAcres > maxAcres ? [`${salvageAcres} acres are more than ${maxAcres}`] : []),
    ...(temporaryRoadMiles > maxMiles
      ? [`${temporaryRoadMiles} miles of temporary road are more than ${maxMiles}`]
      : []),
  ]
  const fits = beyond.length === 0
  const salvage = fits ? exclusion : found('ea-salvage')
  const trails = found('ce-d4')
  const emergency = found('esd')
  return {
    salvage: {
      acres: salvageAcres,
      temporary_road_miles: temporaryRoadMiles,
      pathway: fits ? 'categorical exclusion' : 'environmental assessment',
      beyond,
      regulatory_basis: salvage.reference,
      summary: salvage.summary,
      exclusion: { reference: exclusion.reference, max_acres: maxAcres, max_temporary_road_miles: maxMiles },
    },
    trails: { pathway: 'categorical exclusion', regulatory_basis: trails.reference, summary: trails.summary },
    emergency: { regulatory_basis: emergency.reference, summary: emergency.summary },
    not_checked: 'extraordinary circumstances (36 CFR 220.6(b)), which a person has to judge on the ground',
    proof_layer: {
      citations: [salvage, trails, emergency].map(cite),
      reasoning_chain: [
        `Read ${regulations.length} regulation extracts`,
        `Compared ${salvageAcres} acres and ${temporaryRoadMiles} miles of temporary road with the limits of ${exclusion.reference} (${maxAcres} acres, ${maxMiles} miles): ${fits ? 'within them' : beyond.join('; ')}`,
        `Placed trail repair under ${trails.reference}`,
      ],
    },
  }
}

/** The pathway for this many acres; without a number, for every plot that is worth salvaging. */
export function decidePathway(fireId: string, salvageAcres?: number, temporaryRoadMiles?: number) {
  if (fireById(fireId) === undefined) return noData(fireId)
  if (salvageAcres !== undefined) return assessNepa(salvageAcres, temporaryRoadMiles)
  const salvage = assessSalvage(fireId)
  return 'error' in salvage ? salvage : assessNepa(salvage.viable_acres, temporaryRoadMiles)
}
