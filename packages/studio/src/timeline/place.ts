import type { Execution } from '@millrace/core'
import type { WaterfallLayout } from './lanes.ts'

/** A bar with its position in pixels. */
export interface PlacedBar {
  readonly execution: Execution
  readonly row: number
  readonly left: number
  right: number
  /** Free pixels to the right of the bar. */
  room: number
  /** How many executions the bar shows: executions that are too narrow to distinguish are merged into one band. */
  count: number
  last: Execution
}

/** Bars narrower than `speck` pixels that are less than `touching` pixels apart are merged into a band. */
const speck = 7
const touching = 3

export function place({ bars }: WaterfallLayout, x: (seq: number) => number, width: number): readonly PlacedBar[] {
  const ends = new Map<number, PlacedBar>()
  const placed: PlacedBar[] = []
  for (const { execution, row } of bars) {
    const left = x(execution.startSeq)
    const right = Math.max(left + 4, execution.endSeq === undefined ? width - 4 : x(execution.endSeq))
    const before = ends.get(row)
    if (before !== undefined && isSpeck(before) && right - left < speck && left - before.right < touching) {
      if (before.execution.status === execution.status) {
        before.right = right
        before.room = Math.max(0, width - right)
        before.count += 1
        before.last = execution
        continue
      }
    }
    if (before !== undefined) before.room = left - before.right
    const room = Math.max(0, width - right)
    const bar: PlacedBar = { execution, row, left, right, room, count: 1, last: execution }
    ends.set(row, bar)
    placed.push(bar)
  }
  return placed
}

function isSpeck({ left, right, count }: PlacedBar): boolean {
  return count > 1 || right - left < speck
}

/** Whether the execution was running at this seq. */
export function isNow({ execution, last }: PlacedBar, at: number): boolean {
  return execution.startSeq <= at && (last.endSeq === undefined || at <= last.endSeq)
}
