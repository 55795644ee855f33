import { noData } from './data/fires.ts'
import { type DamagePoint, trailDamage, trailSurvey } from './data/trail-damage.ts'

/** A trail with a point of score 5, or a bridge of 4 or more, is unsafe to walk. */
const closes = ({ score, type }: DamagePoint): boolean => score === 5 || (type === 'bridge' && score >= 4)

export function assessTrails(fireId: string) {
  const points = trailDamage[fireId]
  if (points === undefined) return noData(fireId)
  const trails = [...new Set(points.map(({ trail }) => trail))]
  const closures = trails.flatMap((trail) => {
    const reasons = points.filter((point) => point.trail === trail && closes(point))
    return reasons.length === 0
      ? []
      : [{ trail, because: reasons.map(({ id, type, mile }) => `${type} at mile ${mile} (${id})`) }]
  })
  const cost = points.reduce((sum, { repairUsd }) => sum + repairUsd, 0)
  const severe = points.filter(({ score }) => score >= 4)
  const confidence = points.reduce((sum, { certainty }) => sum + certainty, 0) / points.length
  return {
    fire_id: fireId,
    damage_points: points.length,
    severe_points: severe.length,
    trails_surveyed: trails.length,
    closures,
    repair_usd: cost,
    worst: severe
      .toSorted((a, b) => b.score - a.score || b.repairUsd - a.repairUsd)
      .slice(0, 3)
      .map(({ id, trail, type, score }) => ({ id, trail, type, score })),
    proof_layer: {
      confidence: Number(confidence.toFixed(2)),
      citations: [{ ...trailSurvey }],
      reasoning_chain: [
        `Loaded ${points.length} damage points on ${trails.length} trails`,
        `Found ${severe.length} points of score 4 or 5`,
        `Closed ${closures.length} trails: a point of score 5, or a bridge of 4 or more`,
        `Added up repairs of $${cost.toLocaleString('en-US')}`,
      ],
    },
  }
}
