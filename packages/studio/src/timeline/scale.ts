import type { LiveLog } from '@millrace/core'
import { indexOf } from '../session/play.ts'

/** Where events stand on the waterfall, in milliseconds from the first one. */
export interface Scale {
  readonly total: number
  /** The rows carry no times of their own (a recording without them): one unit is one event. */
  readonly ordinal: boolean
  of(seq: number): number
  seqAt(place: number): number
}

/** Between two runs a person thinks, sleeps or goes home, and before its first step a run only loads: no part of the picture. */
const longestPause = 100

const borders: ReadonlySet<string> = new Set(['run.started', 'run.finished'])

/** Grown with the log, so that a token costs one addition however long the session is. */
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
      const index = Math.max(0, indexOf(rows, seq))
      return ordinal ? index : (places[index] ?? 0)
    },
    seqAt(place) {
      const index = ordinal ? Math.round(place) : lastUpTo(places, rows.length, place)
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

function lastUpTo(places: readonly number[], count: number, place: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle] ?? 0) <= place) low = middle + 1
    else high = middle
  }
  return low - 1
}
