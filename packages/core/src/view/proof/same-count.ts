import { countedWords, isTemperature, isUnit, unitName, unitOfField } from './counted.ts'
import type { Evidence } from './evidence.ts'
import type { ClaimFigure } from './figure.ts'

/** A figure in a piece of evidence, and the field that it is in. */
export interface FigurePlace {
  readonly evidence: Evidence
  readonly path: string
  readonly figure: ClaimFigure
}

/** A small whole number is everywhere by chance: it counts only where it counts the same thing. */
const chance = 100

/** Fields whose plain numbers are percentages or shares, and those with amounts of money. */
const shares = new Set(
  'percent percentage share ratio rate fraction portion proportion confidence probability likelihood chance coverage cover humidity utilization utilisation usage progress completion accuracy precision recall score growth discount margin yield battery contained containment change level'.split(
    ' ',
  ),
)
const amounts = new Set(
  'dollar euro sterling money cost price fee amount total subtotal budget revenue income spend spending spent salary payment balance bill charge value net gross profit loss tax sum estimate'.split(
    ' ',
  ),
)

/** Whether the place can hold the figure: in the same unit and, of a number that is everywhere, of the same thing. */
export function countsTheSame({ evidence, figure, path }: FigurePlace, wanted: ClaimFigure): boolean {
  const { kind, value } = wanted
  if (value === undefined || kind === 'date') return true
  const [unit, own] = [unitOf(wanted), unitOf(figure) ?? unitOfField(path)]
  if (unit !== undefined && own !== undefined && unit !== own) return false
  if (!Number.isInteger(value) || (kind === 'number' && Math.abs(value) >= chance)) return true
  if (figure.kind === 'percent' && kind === 'percent') return true
  if (kind === 'percent' && figure.value !== undefined && !Number.isInteger(figure.value)) return true
  if (unit !== undefined && unit === own) return true
  const words = figure.of === undefined ? countedWords(path, evidence.name) : [figure.of]
  if (kind === 'percent') return words.some((word) => shares.has(word))
  if (isMoney(wanted)) return words.some((word) => amounts.has(word))
  if ((unit === 'celsius' || unit === 'fahrenheit') && isTemperature(words)) return true
  return wanted.of !== undefined && words.includes(wanted.of)
}

/** Fields whose unit stands in a field beside them. */
const measured = /^(?:values?|amount|quantity|total|number|min|max|mean|average)$/i

/** The unit of a field that a result names beside it: `{ value: 42, unit: 'km' }`. */
export function unitBeside(result: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const unit = result.unit ?? result.units
  return typeof unit === 'string' && unit.length <= 30 && measured.test(field) ? unitName(unit) : undefined
}

const money: Readonly<Record<string, string>> = { $: 'dollar', '€': 'euro', '£': 'sterling' }

function isMoney({ text }: ClaimFigure): boolean {
  return /^[$€£]/.test(text)
}

function unitOf({ kind, text, of }: ClaimFigure): string | undefined {
  if (kind === 'percent') return 'percent'
  const sign = money[text[0] ?? '']
  if (sign !== undefined) return sign
  return of !== undefined && isUnit(of) ? of : undefined
}
