/**
 * Sectors of the Cedar Creek Fire (Willamette National Forest, Oregon, 2022). Written for this example in the shape of an
 * MTBS product; not an official assessment. dNBR is the differenced normalised burn ratio, mean over the sector.
 */
export interface BurnSector {
  readonly id: string
  readonly name: string
  readonly acres: number
  readonly dnbr: number
  /** Mean slope in degrees: steep ground sheds water and soil. */
  readonly slope: number
  /** Share of the sector seen without cloud or smoke, 0 to 1. */
  readonly clearView: number
}

export const burnImagery = {
  source: 'Illustrative data set in the shape of MTBS',
  reference: 'Cedar Creek burn sectors, imagery date 2022-09-15; not an official assessment',
  uri: 'agents/recovery/data/burn-sectors.ts',
} as const

export const burnSectors: Readonly<Record<string, readonly BurnSector[]>> = {
  'cedar-creek-2022': [
    { id: 'CORE-1', name: 'Central Fire Origin', acres: 18_240, dnbr: 0.792, slope: 31, clearView: 0.95 },
    { id: 'CORE-2', name: 'Cedar Creek Headwaters', acres: 13_110, dnbr: 0.731, slope: 27, clearView: 0.94 },
    { id: 'NW-1', name: 'Waldo Lake Rim', acres: 11_960, dnbr: 0.688, slope: 22, clearView: 0.9 },
    { id: 'SW-1', name: 'Black Creek Slopes', acres: 10_180, dnbr: 0.665, slope: 34, clearView: 0.92 },
    { id: 'NE-1', name: 'Charlton Butte', acres: 19_420, dnbr: 0.512, slope: 18, clearView: 0.93 },
    { id: 'SE-1', name: 'Huckleberry Flats', acres: 16_890, dnbr: 0.447, slope: 12, clearView: 0.91 },
    { id: 'E-1', name: 'Deschutes Divide', acres: 20_730, dnbr: 0.231, slope: 15, clearView: 0.9 },
    { id: 'S-1', name: 'Salmon Creek Perimeter', acres: 16_781, dnbr: 0.074, slope: 9, clearView: 0.91 },
  ],
}

/** Key and Benson's class limits for dNBR, as MTBS analysts start from. */
export const severityLimits = [
  { severity: 'HIGH', from: 0.66 },
  { severity: 'MODERATE', from: 0.44 },
  { severity: 'LOW', from: 0.1 },
  { severity: 'UNBURNED', from: Number.NEGATIVE_INFINITY },
] as const
export type BurnSeverity = (typeof severityLimits)[number]['severity']
