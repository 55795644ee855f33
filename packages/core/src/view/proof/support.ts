import { isObject } from '../../json/json.ts'
import type { Claim } from './claim.ts'
import { Closest, type Passage } from './closest.ts'
import { isUnit } from './counted.ts'
import type { Evidence } from './evidence.ts'
import { type ClaimFigure, figuresIn, isDay, mayBeSameDate } from './figure.ts'
import { countsTheSame, type FigurePlace, unitBeside } from './same-count.ts'

/** Where a figure of an answer is in the log. */
export interface Support {
  readonly evidence: Evidence
  /** The field inside the value: `severity.high_pct`; empty for a text. */
  readonly path: string
  /** The text around it, or the value as it is. */
  readonly excerpt: string
  /** `exact`: as written; `same`: the same figure in another notation; `rounded`: equal at the digits that are written. */
  readonly how: 'exact' | 'same' | 'rounded'
}

export interface SupportIndex {
  /**
   * Every place that holds the figure, tools and records before the words of agents and persons. With `before`, only
   * places in events before that seq, so that one index serves several answers. With `passages`, the figures of the
   * sentence and of the line around it, the result that holds most of them comes before other results.
   */
  of(figure: ClaimFigure, before?: number, passages?: readonly Passage[]): readonly Support[]
  /** The texts that hold the name as it is written, whatever its case. */
  ofName(name: string): readonly Support[]
}

interface Place extends FigurePlace {
  readonly text: string
}

const mostPlaces = 20
/** Values that are walked and characters of text that are read, in all. */
const mostValues = 200_000
const mostText = 16 * 2 ** 20
/** Values may be texts with JSON in them, which nothing else bounds. */
const deepest = 256
const order = ['tool', 'data', 'specialist', 'state', 'agent', 'person'] as const
const hows = ['exact', 'same', 'rounded'] as const

/** Reads all evidence once; a look-up then costs what it finds. */
export function supportIn(evidence: readonly Evidence[]): SupportIndex {
  const steps = supportSteps(evidence)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** The same with a pause after each piece of evidence, so that a page can draw while a long session is read. */
export function* supportSteps(evidence: readonly Evidence[]): Generator<undefined, SupportIndex, void> {
  const places = new Map<string, Place[]>()
  const numbers: Place[] = []
  const dates: Place[] = []
  const texts: { readonly evidence: Evidence; readonly path: string; readonly text: string }[] = []
  let values = 0
  let length = 0
  const add = (place: Place): void => {
    const { key, value } = place.figure
    const known = places.get(key)
    if (known === undefined) places.set(key, [place])
    else known.push(place)
    if (value !== undefined) numbers.push(place)
    if (place.figure.kind === 'date') dates.push(place)
  }
  const figuresOf = (one: Evidence, text: string, path: string): void => {
    for (const figure of figuresIn(text)) add({ evidence: one, path, text, figure })
  }
  const walk = (one: Evidence, value: unknown, path: string, depth = 0, unit?: string): void => {
    if (values++ > mostValues || length > mostText || depth > deepest) return
    if (typeof value === 'string') {
      length += value.length
      texts.push({ evidence: one, path, text: value })
      const read = one.kind === 'tool' || one.kind === 'data' ? jsonIn(value) : undefined
      if (read === undefined) figuresOf(one, value, path)
      else walk(one, read, path, depth + 1)
    } else if (typeof value === 'number' && Number.isFinite(value)) {
      const text = String(value)
      const figure = { kind: 'number', text, start: 0, end: text.length, key: text, value, step: 0 } as const
      add({ evidence: one, path, text, figure: unit === undefined ? figure : { ...figure, of: unit } })
    } else if (Array.isArray(value))
      for (const [i, each] of value.entries()) walk(one, each, `${path}[${i}]`, depth + 1)
    else if (isObject(value)) {
      for (const [key, each] of Object.entries(value)) {
        // Years and labels may be keys: `{ "2022": { … } }`.
        if (/^\d{4}|-\d/.test(key)) figuresOf(one, key, path)
        walk(one, each, path === '' ? key : `${path}.${key}`, depth + 1, unitBeside(value, key))
      }
    }
  }
  const sorted = evidence.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || b.seq - a.seq)
  for (const one of sorted) {
    walk(one, one.value, '')
    yield undefined
  }
  numbers.sort((a, b) => (a.figure.value ?? 0) - (b.figure.value ?? 0))
  const placesOf = (figure: ClaimFigure, before: number): readonly Support[] => {
    const found = new Ranked(figure)
    for (const place of places.get(figure.key) ?? []) {
      if (place.evidence.seq < before) found.add(place, place.figure.text === figure.text ? 'exact' : 'same')
    }
    for (const place of isYear(figure) ? dates : []) {
      if (place.evidence.seq < before && place.figure.key.startsWith(`${figure.text}-`)) found.add(place, 'same')
    }
    for (const place of figure.kind === 'date' ? dates : []) {
      if (place.evidence.seq >= before) continue
      if (isDay(place.figure, figure) || mayBeSameDate(place.figure, figure)) found.add(place, 'same')
    }
    for (const place of sharesOf(figure).flatMap((key) => places.get(key) ?? [])) {
      if (place.evidence.seq < before) found.add(place, 'same')
    }
    if (found.isEmpty) for (const place of roundedIn(numbers, figure, before)) found.add(place, 'rounded')
    return found.best()
  }
  const closest = new Closest(placesOf)
  return {
    of: (figure, before = Number.POSITIVE_INFINITY, passages = []) =>
      closest.order(placesOf(figure, before), passages, before, ({ evidence: { kind } }) => order.indexOf(kind)),
    ofName: (name) => {
      const wanted = name.toLowerCase()
      const found: Support[] = []
      for (const { evidence: one, path, text } of texts) {
        const at = text.toLowerCase().indexOf(wanted)
        if (at < 0) continue
        found.push({ evidence: one, path, excerpt: around(text, at, at + name.length), how: 'exact' })
        if (found.length === mostPlaces) break
      }
      return found
    },
  }
}

/** A claim by its figures: `supported` where results hold all of them, `stated` where only words of agents or persons do. */
export type ClaimSupport = 'supported' | 'stated' | 'unsupported' | 'nothing to check'

export function claimSupport({ figures }: Claim, index: SupportIndex): ClaimSupport {
  if (figures.length === 0) return 'nothing to check'
  const found = figures.map((figure) => index.of(figure))
  if (found.some((places) => places.length === 0)) return 'unsupported'
  const held = found.every((places) =>
    places.some(({ evidence }) => evidence.kind === 'tool' || evidence.kind === 'data'),
  )
  return held ? 'supported' : 'stated'
}

/**
 * The best places of one figure. A session with a thousand runs may hold a figure in thousands of places, but only a few
 * are shown: once enough places of a rank are known, further ones are not read.
 */
class Ranked {
  readonly #figure: ClaimFigure
  readonly #ranks: Support[][] = []

  constructor(figure: ClaimFigure) {
    this.#figure = figure
  }

  add(place: Place, how: Support['how']): void {
    const rank = order.indexOf(place.evidence.kind) * hows.length + hows.indexOf(how)
    const same = this.#ranks[rank] ?? []
    this.#ranks[rank] = same
    if (same.length === mostPlaces || !countsTheSame(place, this.#figure)) return
    const { evidence, path, text, figure } = place
    same.push({ evidence, path, excerpt: around(text, figure.start, figure.end), how })
  }

  get isEmpty(): boolean {
    return this.#ranks.every((same) => same.length === 0)
  }

  best(): readonly Support[] {
    return this.#ranks.flat().slice(0, mostPlaces)
  }
}

/** `in 2022` is held by a date of that year; `2,022 acres` is not. */
function isYear({ kind, text, of }: ClaimFigure): boolean {
  return kind === 'number' && /^(?:19|20)\d\d$/.test(text) && (of === undefined || !isUnit(of))
}

/** What a tool returned as a text may be JSON, as the results of MCP servers mostly are. */
function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** A percentage may be a share or a plain number in a result: 42% is 0.42 or 42. */
function sharesOf({ kind, value }: ClaimFigure): readonly string[] {
  if (kind !== 'percent' || value === undefined) return []
  return [String(Number((value / 100).toPrecision(12))), String(value)]
}

/** Results with more digits than the answer gives. */
function* roundedIn(numbers: readonly Place[], figure: ClaimFigure, before: number): Generator<Place> {
  const { value, step } = figure
  if (value === undefined || step === undefined || step === 0) return
  for (const scale of figure.kind === 'percent' ? [1, 1 / 100] : [1]) {
    const [low, high] = [(value - step / 2) * scale, (value + step / 2) * scale]
    let count = 0
    for (let i = firstFrom(numbers, low); i < numbers.length && count < mostPlaces; i++) {
      const place = numbers[i]
      if (place === undefined || (place.figure.value ?? 0) >= high) break
      if (place.evidence.seq >= before) continue
      // A whole number that is rounded to another whole number is no rounding of a count.
      if ((place.figure.step ?? 0) >= step * scale && place.figure.step !== 0) continue
      if (!countsTheSame(place, figure)) continue
      count += 1
      yield place
    }
  }
}

function firstFrom(numbers: readonly Place[], low: number): number {
  let [from, to] = [0, numbers.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((numbers[middle]?.figure.value ?? 0) < low) from = middle + 1
    else to = middle
  }
  return from
}

const beside = 60
function around(text: string, start: number, end: number): string {
  const from = Math.max(0, start - beside)
  const to = Math.min(text.length, end + beside)
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
}
