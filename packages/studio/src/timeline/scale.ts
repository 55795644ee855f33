import type { LiveLog } from '@millrace/core'
import { firstIndexWhere } from '@millrace/core/persistent'
import { rowIndexAt } from '../session/play.ts'

/** The positions of events on the waterfall, in milliseconds from the first event. */
export interface Scale {
  readonly total: number
  /** The rows have no times (a recording without them), so one unit is one event. */
  readonly ordinal: boolean
  of(seq: number): number
  seqAt(place: number): number
}

/** Pauses between two runs, and before the first step of a run, are shortened to this many milliseconds. */
const longestPause = 100

const borders: ReadonlySet<string> = new Set(['run.started', 'run.finished'])

/** The positions grow with the log, so that a token costs one addition, however long the session is. */
const known = new WeakMap<LiveLog, number[]>()

export function scaleOf(log: LiveLog): Scale {
  const places = placesOf(log)
  const { rows } = log
  const last = places[rows.length - 1] ?? 0
  const ordinal = last === 0
  return {
    total: ordinal ? Math.max(1, rows.length - 1) : last,
    ordinal,
    of(seq) {
      const index = Math.max(0, rowIndexAt(rows, seq))
      return ordinal ? index : (places[index] ?? 0)
    },
    seqAt(place) {
      const index = ordinal
        ? Math.round(place)
        : firstIndexWhere(rows.length, (each) => (places[each] ?? 0) > place) - 1
      return rows[Math.max(0, Math.min(rows.length - 1, index))]?.seq ?? 0
    },
  }
}

function placesOf(log: LiveLog): readonly number[] {
  const places = known.get(log) ?? []
  known.set(log, places)
  const { rows } = log
  for (let i = places.length; i < rows.length; i++) {
    const before = rows[i - 1]
    const row = rows[i]
    const gap = before === undefined || row === undefined ? 0 : Math.max(0, row.at - before.at)
    const idle = before !== undefined && (before.run === '' || borders.has(before.event.kind))
    places.push((places[i - 1] ?? 0) + (idle ? Math.min(gap, longestPause) : gap))
  }
  return places
}
