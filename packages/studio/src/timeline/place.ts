import type { WaterfallLayout } from './lanes.ts'
import type { Span } from './spans.ts'

/** A bar with its position in pixels. */
export interface PlacedBar {
  readonly span: Span
  readonly row: number
  readonly left: number
  right: number
  /** Free pixels to the right of the bar. */
  room: number
  /** How many spans the bar shows: spans that are too narrow to distinguish are merged into one band. */
  count: number
  last: Span
}

/** Bars narrower than `speck` pixels that are less than `touching` pixels apart are merged into a band. */
const speck = 7
const touching = 3

export function place({ bars }: WaterfallLayout, x: (seq: number) => number, width: number): readonly PlacedBar[] {
  const ends = new Map<number, PlacedBar>()
  const placed: PlacedBar[] = []
  for (const { span, row } of bars) {
    const left = x(span.startSeq)
    const right = Math.max(left + 4, span.endSeq === undefined ? width - 4 : x(span.endSeq))
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
    const bar: PlacedBar = { span, row, left, right, room, count: 1, last: span }
    ends.set(row, bar)
    placed.push(bar)
  }
  return placed
}

function isSpeck({ left, right, count }: PlacedBar): boolean {
  return count > 1 || right - left < speck
}

/** Whether it was running at this seq. */
export function isNow({ span, last }: PlacedBar, at: number): boolean {
  return span.startSeq <= at && (last.endSeq === undefined || at <= last.endSeq)
}
