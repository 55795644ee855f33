import { noData } from './data/fires.ts'
import {
  accessCost,
  deterioration,
  logPrice,
  type TimberPlot,
  timberPlots,
  timberSources,
  yearsSinceFire,
} from './data/timber-plots.ts'

/** Sound volume and net value of one plot: the volume left by decay, at log price minus the cost of logging. */
function appraise(plot: TimberPlot) {
  const net = plot.acres * plot.grossMbfPerAcre * (1 - deterioration[plot.species]) ** yearsSinceFire
  const margin = logPrice[plot.species] - accessCost[plot.road]
  return {
    plot: plot.id,
    sector: plot.sector,
    species: plot.species,
    acres: plot.acres,
    net_mbf: Math.round(net),
    value_usd: Math.round(net * margin),
  }
}

/** Salvage volume and value, optionally only of plots in some sectors. Plots that would cost money are left standing. */
export function assessSalvage(fireId: string, sectors?: readonly string[]) {
  const all = timberPlots[fireId]
  if (all === undefined) return noData(fireId)
  const plots = sectors === undefined ? all : all.filter(({ sector }) => sectors.includes(sector))
  const appraised = plots.map(appraise)
  const viable = appraised.filter(({ value_usd }) => value_usd > 0).toSorted((a, b) => b.value_usd - a.value_usd)
  const sum = (pick: (row: (typeof viable)[number]) => number): number =>
    viable.reduce((total, row) => total + pick(row), 0)
  const error = plots.reduce((total, { samplingError }) => total + samplingError, 0) / Math.max(1, plots.length)
  return {
    fire_id: fireId,
    plots: plots.length,
    viable_plots: viable.length,
    viable_acres: sum(({ acres }) => acres),
    net_mbf: sum(({ net_mbf }) => net_mbf),
    value_usd: sum(({ value_usd }) => value_usd),
    priority: viable,
    left_standing: appraised.filter(({ value_usd }) => value_usd <= 0).map(({ plot }) => plot),
    proof_layer: {
      confidence: Number((1 - error).toFixed(2)),
      citations: timberSources.map((source) => ({ ...source })),
      reasoning_chain: [
        `Loaded ${plots.length} timber plots${sectors === undefined ? '' : ` in ${sectors.join(', ')}`}`,
        `Applied ${yearsSinceFire} year of deterioration by species`,
        `Kept ${viable.length} plots whose logs are worth more than it costs to get them out`,
      ],
    },
  }
}
