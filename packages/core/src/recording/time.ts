import type { Draft, Recorded } from '../event/run-event.ts'

/** Gives drafts their seq and time. A row is returned as soon as its time is known. */
export interface RecordingClock {
  push(draft: Draft): readonly Recorded[]
  /** Nothing follows: returns the rows that still wait. */
  end(): readonly Recorded[]
}

/**
 * The time of a recorded event is the one that the event carries. An event without a time gets that of the event before
 * it, and the start of a run that of the event after it. Events at the very beginning wait for the first time, at most
 * `mostWaiting` of them, and get `now` when there is none. Time never goes back. Rows of a log keep the seq and time
 * that they have (SPEC 2.10).
 */
export function recordingClock(now: () => number, mostWaiting: number): RecordingClock {
  let held: Draft[] = []
  let last: number | undefined
  let seq = 0

  const row = ({ run, event, at, seq: own }: Draft, time: number): Recorded => {
    seq = own ?? seq + 1
    if (own !== undefined && at !== undefined) last = at
    else last = Math.max(last ?? time, time)
    return { seq, at: last, run, event }
  }
  const release = (time: number): readonly Recorded[] => {
    const rows = held.map((draft) => row(draft, time))
    held = []
    return rows
  }
  return {
    push(draft) {
      const time = timeOf(draft)
      if (time !== undefined) return held.length === 0 ? [row(draft, time)] : [...release(time), row(draft, time)]
      // A run starts at the time of its first event, however long the pause before it was.
      const waits = last === undefined ? held.length < mostWaiting : draft.event.kind === 'run.started'
      if (!waits && held.length === 0) return [row(draft, last ?? now())]
      held.push(draft)
      return waits ? [] : release(last ?? now())
    },
    end: () => (held.length === 0 ? [] : release(last ?? now())),
  }
}

/** Whole milliseconds. 0 means that the event has no time, and a Date holds no more than 8.64e15. */
function timeOf({ at, event, seq }: Draft): number | undefined {
  if (seq !== undefined && at !== undefined) return at
  const time = at ?? (event.kind === 'agent' ? event.event.timestamp : undefined)
  return time !== undefined && time > 0 && time <= 8.64e15 ? Math.round(time) : undefined
}
