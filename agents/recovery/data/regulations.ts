/**
 * Extracts in our own words of the regulations a post-fire project meets; the references are the real ones, as in force
 * when the field assessment was made. USDA has since (2025) moved its NEPA rules from 36 CFR 220 to 7 CFR 1b.
 */
export interface Regulation {
  readonly id: string
  readonly reference: string
  readonly title: string
  readonly action: 'salvage' | 'trail repair' | 'emergency'
  /** The rule as a test: the largest project it covers. */
  readonly maxAcres?: number
  readonly maxTemporaryRoadMiles?: number
  readonly summary: string
  readonly uri: string
}

export const regulations: readonly Regulation[] = [
  {
    id: 'ce-e13',
    reference: '36 CFR 220.6(e)(13)',
    title: 'Salvage of dead or dying trees',
    action: 'salvage',
    maxAcres: 250,
    maxTemporaryRoadMiles: 0.5,
    summary: 'A categorical exclusion for salvage of up to 250 acres with up to half a mile of temporary road.',
    uri: 'https://www.ecfr.gov/on/2022-10-25/title-36/section-220.6',
  },
  {
    id: 'ea-salvage',
    reference: '36 CFR 220.7',
    title: 'Environmental assessment',
    action: 'salvage',
    summary: 'A larger salvage needs an environmental assessment and a decision notice.',
    uri: 'https://www.ecfr.gov/on/2022-10-25/title-36/section-220.7',
  },
  {
    id: 'ce-d4',
    reference: '36 CFR 220.6(d)(4)',
    title: 'Repair and maintenance of roads, trails and boundaries',
    action: 'trail repair',
    summary: 'Repair of trails is categorically excluded and needs no case file.',
    uri: 'https://www.ecfr.gov/on/2022-10-25/title-36/section-220.6',
  },
  {
    id: 'esd',
    reference: '36 CFR 218.21',
    title: 'Emergency situation',
    action: 'emergency',
    summary: 'An emergency determination lets a decision be carried out without the objection period.',
    uri: 'https://www.ecfr.gov/on/2022-10-25/title-36/section-218.21',
  },
  {
    id: 'baer',
    reference: 'FSM 2523',
    title: 'Burned area emergency response',
    action: 'emergency',
    summary: 'Emergency stabilisation is planned by a BAER team within days of containment.',
    uri: 'https://www.fs.usda.gov/naturalresources/watershed/burnedareas.shtml',
  },
]
