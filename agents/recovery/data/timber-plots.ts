/** Cruise plots of fire-killed timber, written for this example. Volume is gross, in thousand board feet (MBF). */
export interface TimberPlot {
  readonly id: string
  readonly sector: string
  readonly species: Species
  readonly acres: number
  readonly grossMbfPerAcre: number
  readonly road: 'adjacent' | 'within half a mile' | 'remote'
  /** Sampling error of the plot, 0 to 1. */
  readonly samplingError: number
}
export type Species = 'Douglas-fir' | 'western hemlock' | 'true fir' | 'ponderosa pine'

export const timberSources = [
  {
    source: 'Illustrative timber cruise',
    reference: 'Cedar Creek plots TP-01 to TP-06',
    uri: 'agents/recovery/data/timber-plots.ts',
  },
  {
    source: 'Illustrative deterioration rates',
    reference: 'Share of volume lost per year, by species',
    uri: 'agents/recovery/data/timber-plots.ts',
  },
  {
    source: 'Illustrative log prices and logging costs',
    reference: 'USD per MBF, by species and access',
    uri: 'agents/recovery/data/timber-plots.ts',
  },
] as const

/** Share of gross volume lost per year after the fire: sapwood stain and decay. */
export const deterioration: Readonly<Record<Species, number>> = {
  'Douglas-fir': 0.12,
  'western hemlock': 0.24,
  'true fir': 0.3,
  'ponderosa pine': 0.34,
}
/** Delivered log price in USD per MBF. */
export const logPrice: Readonly<Record<Species, number>> = {
  'Douglas-fir': 610,
  'western hemlock': 430,
  'true fir': 405,
  'ponderosa pine': 360,
}
/** Logging and hauling in USD per MBF, by access. */
export const accessCost: Readonly<Record<TimberPlot['road'], number>> = {
  adjacent: 245,
  'within half a mile': 310,
  remote: 520,
}

export const timberPlots: Readonly<Record<string, readonly TimberPlot[]>> = {
  'cedar-creek-2022': [
    {
      id: 'TP-01',
      sector: 'CORE-1',
      species: 'Douglas-fir',
      acres: 74,
      grossMbfPerAcre: 31.2,
      road: 'adjacent',
      samplingError: 0.08,
    },
    {
      id: 'TP-02',
      sector: 'CORE-1',
      species: 'western hemlock',
      acres: 46,
      grossMbfPerAcre: 22.5,
      road: 'within half a mile',
      samplingError: 0.1,
    },
    {
      id: 'TP-03',
      sector: 'CORE-2',
      species: 'Douglas-fir',
      acres: 58,
      grossMbfPerAcre: 28.9,
      road: 'within half a mile',
      samplingError: 0.07,
    },
    {
      id: 'TP-04',
      sector: 'SW-1',
      species: 'true fir',
      acres: 39,
      grossMbfPerAcre: 24.1,
      road: 'adjacent',
      samplingError: 0.11,
    },
    {
      id: 'TP-05',
      sector: 'NW-1',
      species: 'true fir',
      acres: 63,
      grossMbfPerAcre: 19.6,
      road: 'remote',
      samplingError: 0.12,
    },
    {
      id: 'TP-06',
      sector: 'NE-1',
      species: 'ponderosa pine',
      acres: 52,
      grossMbfPerAcre: 12.8,
      road: 'adjacent',
      samplingError: 0.09,
    },
  ],
}

/** Years between the fire and the sale this example looks at. */
export const yearsSinceFire = 1
