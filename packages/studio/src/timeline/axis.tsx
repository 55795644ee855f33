import { goTo } from '../session/cursor.ts'
import { duration, moment } from '../ui/duration.ts'
import { eventNumber } from '../ui/event-number.ts'
import { type Crowd, crowds } from './crowd.ts'
import type { TimelineMark } from './marks.ts'
import { margin } from './place.ts'
import type { Scale } from './scale.ts'
import { ticks } from './ticks.ts'

interface AxisProps {
  readonly scale: Scale
  readonly marks: readonly TimelineMark[]
  readonly width: number
  readonly x: (seq: number) => number
  readonly from: number
  readonly to: number
}

/** Pixels that the label of a tick needs, and the least distance of two flags and of two breaks. */
const labelWidth = 62
const flagDistance = 12
const breakDistance = 56

/** The times above the lanes, the breaks between them, and the flags of runs, questions and failures. */
export function Axis({ scale, marks, width, x, from, to }: AxisProps) {
  const isSeen = (left: number): boolean => left >= from && left <= to
  const placed = (place: number): number => margin + (place / scale.total) * (width - 2 * margin)
  const flags = [...flagsOf(marks, x, (kind) => kind === 'run'), ...flagsOf(marks, x, (kind) => kind !== 'run')]
  // The flag of a run is below the labels. The others are as high as a label, and say more than it.
  const taken = flags.filter(({ first }) => first.kind !== 'run').map(({ first }) => x(first.seq))
  const unit = unitOf(scale.total / width)
  const breaks = crowds(scale.breaks, ({ place }) => placed(place), breakDistance)
  return (
    <>
      <div className="axis" aria-hidden="true">
        {ticks(scale.stretches, scale.total, width).map(({ place, real }) => {
          const left = placed(place)
          if (!isSeen(left) || left > width - labelWidth) return null
          const isFree = !taken.some((flag) => flag > left - 6 && flag < left + labelWidth)
          return (
            <span key={place} className="tick number" style={{ left }}>
              {isFree && (scale.ordinal ? `#${Math.round(real)}` : moment(Math.round(real / unit) * unit, unit))}
            </span>
          )
        })}
        {breaks.map((crowd) => {
          const left = placed(crowd.first.place)
          if (!isSeen(left)) return null
          return (
            <span
              key={crowd.first.place}
              className="break"
              style={{ left }}
              data-testid="timeline-break"
              title={pausesIn(crowd)}
            />
          )
        })}
      </div>
      {flags.map(({ first: { seq, kind, text }, count }) => {
        const left = x(seq)
        if (!isSeen(left)) return null
        const name = count === 1 ? text : `${text}, and ${count - 1} more here`
        return (
          <button
            type="button"
            key={seq}
            className={`flag ${kind}`}
            style={{ left }}
            title={name}
            aria-label={`${name}, event ${eventNumber(seq)}`}
            onClick={() => goTo(seq)}
          />
        )
      })}
    </>
  )
}

/** The milliseconds that count in a label. Ticks that are seconds apart need no fractions; no two are called the same. */
function unitOf(msPerPixel: number): number {
  if (msPerPixel > 10) return 1000
  // Two labels are at least 66 pixels apart.
  return [100, 10].find((unit) => msPerPixel * 66 > unit) ?? 1
}

function flagsOf(
  marks: readonly TimelineMark[],
  x: (seq: number) => number,
  isWanted: (kind: TimelineMark['kind']) => boolean,
): readonly Crowd<TimelineMark>[] {
  const wanted = marks.filter(({ kind }) => isWanted(kind))
  return crowds(wanted, ({ seq }) => x(seq), flagDistance)
}

function pausesIn({ first, count }: Crowd<Scale['breaks'][number]>): string {
  const pause = `No event for ${duration(first.gap)}`
  return count === 1 ? pause : `${pause}, and ${count - 1} more pauses up to the next mark. Zoom in to see each one.`
}
