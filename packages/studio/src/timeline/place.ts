import { defined } from '@millrace/core'
import type { WaterfallLayout } from './lanes.ts'
import type { Scale } from './scale.ts'
import type { Span } from './spans.ts'

/** A bar with its position in pixels. */
export interface PlacedBar {
  readonly span: Span
  readonly row: number
  readonly left: number
  right: number
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
  for (const { span, row } of bars) {
    const { left, right, first } = edgesOf(span, x, width, perMillisecond)
    const before = ends.get(row)
    if (before !== undefined && isSpeck(before) && right - left < speck && left - before.right < touching) {
      if (before.span.word === span.word) {
        before.right = right
        before.room = Math.max(0, width - right)
        before.count += 1
        before.last = span
        continue
      }
    }
    if (before !== undefined) before.room = left - before.right
    const room = Math.max(0, width - right)
    const bar: PlacedBar = { span, row, left, right, room, count: 1, last: span, ...defined({ first }) }
    ends.set(row, bar)
    placed.push(bar)
  }
  return placed
}

/** The place of an event, in pixels. */
export function xOf(scale: Scale, width: number, seq: number): number {
  return margin + (scale.of(seq) / scale.total) * (width - 2 * margin)
}

/**
 * A call is as long as it took, which its record says: a busy server may write the events of a call later than they
 * happened. A model works from the start of its call on, a tool until its end.
 */
function edgesOf(
  { kind, startSeq, endSeq, duration, early = 0, remote, firstSeq, firstAfter }: Span,
  x: (seq: number) => number,
  width: number,
  perMillisecond: number | undefined,
): { readonly left: number; readonly right: number; readonly first: number | undefined } {
  const isCall = (kind === 'model' || kind === 'tool') && remote === undefined
  const before = isCall ? early * (perMillisecond ?? 0) : 0
  const [from, to] = [Math.max(margin, x(startSeq) - before), endSeq === undefined ? width - margin : x(endSeq)]
  const own = isCall && perMillisecond !== undefined && endSeq !== undefined ? duration : undefined
  const length = own === undefined ? to - from : Math.min(to - from, own * (perMillisecond ?? 0))
  // The canvas clips what is beyond its end, so a short call there begins a little earlier.
  const left = Math.min(kind === 'tool' ? to - length : from, width - narrowest)
  const right = Math.max(left + narrowest, left + length)
  if (firstSeq === undefined) return { left, right, first: undefined }
  const after = own === undefined || firstAfter === undefined ? x(firstSeq) - left : firstAfter * (perMillisecond ?? 0)
  return { left, right, first: Math.min(after, right - left - 2) }
}

function isSpeck({ left, right, count }: PlacedBar): boolean {
  return count > 1 || right - left < speck
}

/** Whether it was running at this seq. */
export function isNow({ span, last }: PlacedBar, at: number): boolean {
  return span.startSeq <= at && (last.endSeq === undefined || at <= last.endSeq)
}
