import type { LiveLog, Recorded } from '@millrace/core'
import { firstIndexWhere } from '@millrace/core/persistent'
import { rowIndexAt } from '../session/row-index.ts'
import { isLateEnd } from '../session/runs.ts'

/** The positions of events on the waterfall, in milliseconds from the first event, without the breaks. */
export interface Scale {
  readonly total: number
  /** The rows have no times (a recording without them), so one unit is one event. */
  readonly ordinal: boolean
  /** The stretches between the breaks. */
  readonly stretches: readonly Stretch[]
  /** The pauses in which nothing ran: the place of each, and its real length in milliseconds. */
  readonly breaks: readonly { readonly place: number; readonly gap: number }[]
  of(seq: number): number
  seqAt(place: number): number
}

/** A part of the scale without a break: where it begins, at which time since the first event, and how long it is. */
export interface Stretch {
  readonly place: number
  readonly real: number
  readonly length: number
}

/** Long pauses between two runs, and before the first step of a run, are drawn as breaks as wide as this many milliseconds. */
const breakWidth = 100

/** A shorter pause has its real length, so that the times above the lanes are those of the events. */
const leastBreak = 1000

const borders: ReadonlySet<string> = new Set(['run.started', 'run.finished'])

/** The positions grow with the log, so that a token costs one addition, however long the session is. */
const known = new WeakMap<LiveLog, Places>()

interface Places {
  readonly of: number[]
  /** The row that was placed last. */
  last: Recorded | undefined
  readonly breaks: { readonly place: number; readonly gap: number; readonly real: number }[]
}

export function scaleOf(log: LiveLog): Scale {
  const { of: places, breaks } = placesOf(log)
  const { rows } = log
  const last = places[rows.length - 1] ?? 0
  const ordinal = last === 0
  return {
    total: ordinal ? Math.max(1, rows.length - 1) : last,
    ordinal,
    stretches: stretchesOf(breaks, ordinal ? rows.length - 1 : last),
    breaks: breaks.map(({ place, gap }) => ({ place, gap })),
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

function stretchesOf(breaks: Places['breaks'], total: number): readonly Stretch[] {
  const made: Stretch[] = []
  let [place, real] = [0, 0]
  for (const each of breaks) {
    made.push({ place, real, length: each.place - place })
    place = each.place + breakWidth
    real = each.real + each.gap
  }
  return [...made, { place, real, length: Math.max(0, total - place) }]
}

function placesOf(log: LiveLog): Places {
  const { rows } = log
  const before = known.get(log)
  // Tokens that are loaded later are inserted, so that everything is placed anew.
  const valid = before !== undefined && rows[before.of.length - 1] === before.last
  const places: Places = valid ? before : { of: [], last: undefined, breaks: [] }
  known.set(log, places)
  const { of, breaks } = places
  const first = rows[0]?.at ?? 0
  for (let i = of.length; i < rows.length; i++) {
    const row = rows[i]
    const place = of[i - 1] ?? 0
    // What a person thinks of a run is no work: it takes no time on the axis.
    if (row?.event.kind === 'feedback') {
      of.push(place)
      continue
    }
    const earlier = workBefore(rows, i)
    const gap = earlier === undefined || row === undefined ? 0 : Math.max(0, row.at - earlier.at)
    const isBreak = gap >= leastBreak && isIdle(earlier, row)
    if (isBreak && earlier !== undefined) breaks.push({ place, gap, real: earlier.at - first })
    of.push(place + (isBreak ? breakWidth : gap))
  }
  places.last = rows.at(-1)
  return places
}

function workBefore(rows: readonly Recorded[], index: number): Recorded | undefined {
  let at = index - 1
  while (rows[at]?.event.kind === 'feedback') at -= 1
  return rows[at]
}

/** Whether nothing ran between the two rows: no run was active, or the server had stopped. */
function isIdle(earlier: Recorded | undefined, row: Recorded | undefined): boolean {
  if (earlier === undefined || row === undefined) return false
  const { event } = row
  // The first sign of a run on another server: that server worked since it was asked.
  const isAnswer = earlier.run === row.run && (event.kind === 'agent' || event.kind === 'model.started')
  return isLateEnd(row) || earlier.run === '' || (borders.has(earlier.event.kind) && !isAnswer)
}
