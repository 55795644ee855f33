import { defined } from '@millrace/core'
import type { StateWord } from '../ui/state-word.ts'
import type { WaterfallLayout } from './lanes.ts'
import type { Scale } from './scale.ts'
import type { Span } from './spans.ts'

/** A bar with its position in pixels. */
export interface PlacedBar {
  readonly span: Span
  readonly row: number
  readonly left: number
  right: number
  /** Of a band with a failure in it, that. */
  word: StateWord
  /** Free pixels to the right of the bar. */
  room: number
  /** Pixels from its left to the first token of a model's answer. */
  readonly first?: number
  /** How many spans the bar shows: spans that are too narrow to distinguish are merged into one band. */
  count: number
  last: Span
}

/** Bars narrower than `speck` pixels that are less than `touching` pixels apart are merged into a band. */
const speck = 7
const touching = 3
/** The narrowest bar that the mouse can hit, and the space at both ends of the canvas. */
const narrowest = 6
export const margin = 4

export function place({ bars }: WaterfallLayout, scale: Scale, width: number): readonly PlacedBar[] {
  const x = (seq: number): number => xOf(scale, width, seq)
  const perMillisecond = scale.ordinal ? undefined : (width - 2 * margin) / scale.total
  const ends = new Map<number, PlacedBar>()
  const placed: PlacedBar[] = []
  const edges = bars.map(({ span }) => edgesOf(span, x, width, perMillisecond))
  const rights = rightsOf(bars, edges, (span) => (span.endSeq === undefined ? width - margin : x(span.endSeq)))
  for (const [i, { span, row }] of bars.entries()) {
    const own = edges[i]
    if (own === undefined) continue
    const edge = { ...own, right: rights[i] ?? own.right }
    const before = ends.get(row)
    const { left, right, first } = besideOf(before, edge, width)
    if (before !== undefined && isSpeck(before) && isSpeck(edge) && edge.left - before.right < touching) {
      // Specks of two words stay apart as long as there is room for both.
      if (before.word === span.word || left < before.right) {
        before.right = Math.max(before.right, edge.right)
        before.room = Math.max(0, width - before.right)
        before.count += 1
        before.last = span
        if (span.word === 'failed') before.word = span.word
        continue
      }
    }
    if (before !== undefined) before.room = left - before.right
    const room = Math.max(0, width - right)
    const bar = { span, row, left, right, room, word: span.word, count: 1, last: span, ...defined({ first }) }
    ends.set(row, bar)
    placed.push(bar)
  }
  return placed
}

/**
 * A bar begins after the one before it in its row. A call of no length, as a slow commit records it, is still drawn
 * `narrowest` pixels wide, and the call after it would cover it. A bar is moved by the width of one such call at most, or
 * as far as its own length has room: many of them in a row must not drive the later ones away from their time.
 */
function besideOf(before: PlacedBar | undefined, edge: Edges, width: number): Edges {
  const most = Math.min(Math.max(edge.left + narrowest, edge.right - narrowest), width - narrowest)
  const left = Math.min(Math.max(edge.left, before?.right ?? 0), most)
  const right = Math.max(edge.right, left + narrowest)
  const first = edge.first === undefined ? undefined : Math.max(0, edge.first - (left - edge.left))
  return { left, right, first }
}

/** The place of an event, in pixels. */
export function xOf(scale: Scale, width: number, seq: number): number {
  return margin + (scale.of(seq) / scale.total) * (width - 2 * margin)
}

interface Edges {
  readonly left: number
  readonly right: number
  readonly first?: number | undefined
}

/** Where the bars end. A step reaches at least as far as what is inside it, but not beyond its own last event. */
function rightsOf(
  bars: WaterfallLayout['bars'],
  edges: readonly Edges[],
  lastOf: (span: Span) => number,
): readonly number[] {
  const rights = edges.map(({ right }) => right)
  const places = new Map(bars.map(({ span }, i) => [span.key, i]))
  const around = ({ within }: Span): number | undefined => (within === undefined ? undefined : places.get(within))
  for (const [i, { span }] of bars.entries()) {
    const right = edges[i]?.right ?? 0
    for (let at = around(span), up = 0; at !== undefined && up < deepest; up++) {
      const outer = bars[at]?.span
      if (outer === undefined) break
      rights[at] = Math.max(rights[at] ?? 0, Math.min(right, lastOf(outer)))
      at = around(outer)
    }
  }
  return rights
}
/** Steps inside each other. A log of another server could name a step that is inside itself. */
const deepest = 20

/**
 * A step and a call are as long as they took, which their records say: a busy server may write events later than they
 * happened. A step and a model work from their start on, a tool until its end.
 */
function edgesOf(
  { kind, startSeq, endSeq, duration, remote, firstSeq, firstAfter }: Span,
  x: (seq: number) => number,
  width: number,
  perMillisecond: number | undefined,
): Edges {
  const [from, to] = [x(startSeq), endSeq === undefined ? width - margin : x(endSeq)]
  const isMeasured = kind !== 'run' && remote === undefined
  const own = isMeasured && perMillisecond !== undefined && endSeq !== undefined ? duration : undefined
  const length = own === undefined ? to - from : Math.min(to - from, own * (perMillisecond ?? 0))
  // The canvas clips what is beyond its end, so a short call there begins a little earlier.
  const left = Math.min(kind === 'tool' ? to - length : from, width - narrowest)
  const right = Math.max(left + narrowest, left + length)
  if (firstSeq === undefined) return { left, right, first: undefined }
  const after = own === undefined || firstAfter === undefined ? x(firstSeq) - left : firstAfter * (perMillisecond ?? 0)
  return { left, right, first: Math.min(after, right - left - 2) }
}

function isSpeck({ left, right, count = 1 }: Edges & { readonly count?: number }): boolean {
  return count > 1 || right - left < speck
}

/** Whether it was running at this seq. */
export function isNow({ span, last }: PlacedBar, at: number): boolean {
  return span.startSeq <= at && (last.endSeq === undefined || at <= last.endSeq)
}
