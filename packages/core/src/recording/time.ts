import type { Draft, Recorded } from '../event/run-event.ts'

/** Gives drafts their place in a log. A row comes out as soon as its time is known. */
export interface Clock {
  push(draft: Draft): readonly Recorded[]
  /** Nothing follows: what is held comes out. */
  end(): readonly Recorded[]
}

/**
 * When a recorded event happened, as the event tells it. One that tells no time happened with the one before it, and the
 * start of a run with the one after it. Those at the very beginning wait for the first that tells a time, at most
 * `patience` of them, and have `now` where none does. Time never goes back. Rows of a log keep the numbers they have
 * (SPEC 2.10).
 */
export function recordingClock(now: () => number, patience: number): Clock {
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
      const told = timeOf(draft)
      if (told !== undefined) return held.length === 0 ? [row(draft, told)] : [...release(told), row(draft, told)]
      // A run starts with what comes first in it, however long the pause before it was.
      const waits = last === undefined ? held.length < patience : draft.event.kind === 'run.started'
      held.push(draft)
      return waits ? [] : release(last ?? now())
    },
    end: () => (held.length === 0 ? [] : release(last ?? now())),
  }
}

/** Whole milliseconds; none for 0, which is how an event says that it has no time, nor for what no calendar has. */
function timeOf({ at, event, seq }: Draft): number | undefined {
  if (seq !== undefined && at !== undefined) return at
  const told = at ?? (event.kind === 'agent' ? event.event.timestamp : undefined)
  return told !== undefined && told > 0 && told <= 8.64e15 ? Math.round(told) : undefined
}
