/** Damage points of a field survey, written for this example. Scores are 1 (cosmetic) to 5 (gone). */
export interface DamagePoint {
  readonly id: string
  readonly trail: string
  readonly mile: number
  readonly type: 'bridge' | 'tread' | 'hazard trees' | 'debris' | 'sign'
  readonly score: 1 | 2 | 3 | 4 | 5
  readonly repairUsd: number
  /** How sure the surveyor was of the score, 0 to 1. */
  readonly certainty: number
}

export const trailSurvey = {
  source: 'Illustrative field survey',
  reference: 'Cedar Creek damage points, 2022-10-25; not an official assessment',
  uri: 'agents/recovery/data/trail-damage.ts',
} as const

export const trailDamage: Readonly<Record<string, readonly DamagePoint[]>> = {
  'cedar-creek-2022': [
    {
      id: 'TD-01',
      trail: 'Waldo Lake Trail #3590',
      mile: 2.4,
      type: 'bridge',
      score: 5,
      repairUsd: 148_000,
      certainty: 0.97,
    },
    {
      id: 'TD-02',
      trail: 'Waldo Lake Trail #3590',
      mile: 4.1,
      type: 'hazard trees',
      score: 4,
      repairUsd: 26_500,
      certainty: 0.92,
    },
    {
      id: 'TD-03',
      trail: 'Waldo Lake Trail #3590',
      mile: 6.8,
      type: 'tread',
      score: 3,
      repairUsd: 12_400,
      certainty: 0.88,
    },
    {
      id: 'TD-04',
      trail: 'Cedar Creek Trail #3551',
      mile: 0.7,
      type: 'debris',
      score: 2,
      repairUsd: 4_200,
      certainty: 0.9,
    },
    {
      id: 'TD-05',
      trail: 'Cedar Creek Trail #3551',
      mile: 1.9,
      type: 'bridge',
      score: 4,
      repairUsd: 91_000,
      certainty: 0.93,
    },
    {
      id: 'TD-06',
      trail: 'Cedar Creek Trail #3551',
      mile: 3.3,
      type: 'tread',
      score: 5,
      repairUsd: 38_700,
      certainty: 0.9,
    },
    {
      id: 'TD-07',
      trail: 'Black Creek Trail #3551.1',
      mile: 1.2,
      type: 'hazard trees',
      score: 5,
      repairUsd: 44_300,
      certainty: 0.91,
    },
    {
      id: 'TD-08',
      trail: 'Black Creek Trail #3551.1',
      mile: 2.6,
      type: 'tread',
      score: 4,
      repairUsd: 21_900,
      certainty: 0.86,
    },
    { id: 'TD-09', trail: 'Charlton Trail #3570', mile: 0.9, type: 'sign', score: 1, repairUsd: 650, certainty: 0.95 },
    {
      id: 'TD-10',
      trail: 'Charlton Trail #3570',
      mile: 3.8,
      type: 'debris',
      score: 2,
      repairUsd: 3_100,
      certainty: 0.84,
    },
    {
      id: 'TD-11',
      trail: 'Salmon Lakes Trail #3585',
      mile: 2.2,
      type: 'hazard trees',
      score: 3,
      repairUsd: 9_800,
      certainty: 0.87,
    },
    {
      id: 'TD-12',
      trail: 'Salmon Lakes Trail #3585',
      mile: 4.4,
      type: 'sign',
      score: 1,
      repairUsd: 450,
      certainty: 0.87,
    },
  ],
}
