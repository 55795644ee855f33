import { hectare } from './amounts.ts'

/** How a report writes its areas. */
export interface Acreage {
  readonly area: (acres: number) => string
  /** An area in a table, under the heading. */
  readonly cell: (acres: number) => string
  readonly heading: string
}

const number = (value: number): string => value.toLocaleString('en-US')

const inAcres: Acreage = {
  area: (acres) => `${number(acres)} acres`,
  cell: number,
  heading: 'acres',
}

const hectares = (acres: number): string => number(Math.round(acres / hectare))

const inBoth: Acreage = {
  area: (acres) => `${number(acres)} acres (${hectares(acres)} hectares)`,
  cell: (acres) => `${number(acres)} (${hectares(acres)})`,
  heading: 'acres (hectares)',
}

const namesHectares = /\bhectares?\b|\d\s*ha\b|\b(?:in|many) ha\b/i

/** Acres, as the data and the rule count them; a question in hectares gets those too. */
export const acreageFor = (question: string): Acreage => (namesHectares.test(question) ? inBoth : inAcres)
