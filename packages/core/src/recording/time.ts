import type { Draft, Recorded } from '../event/run-event.ts'

/**
 * Takes the rows of a recording one by one, because a list of them costs more than making them. It is an object, because
 * V8 inlines a method that all objects of a class share, but not a function that each reader creates.
 */
export interface RowTaker {
  /** `number`: which frame, line or event the row was read from. */
  takeRow(row: Recorded, number: number | undefined): void
}

/**
 * Gives drafts their seq and time. The time of a recorded event is the one that the event carries. An event without a
 * time gets that of the event before it, and the start of a run that of the event after it. Events at the very beginning
 * wait for the first time, at most `mostWaiting` of them, and get `now` when there is none. Time never goes back. Rows
 * of a log keep the seq and time that they have (SPEC 2.10).
 */
export class RecordingClock {
  readonly #now: () => number
  readonly #mostWaiting: number
  readonly #taker: RowTaker
  #held: { readonly draft: Draft; readonly number: number | undefined }[] = []
  #last: number | undefined
  #seq = 0

  constructor(now: () => number, mostWaiting: number, taker: RowTaker) {
    this.#now = now
    this.#mostWaiting = mostWaiting
    this.#taker = taker
  }

  /** Passes the row on as soon as its time is known, in the order of the drafts. */
  push(draft: Draft, number: number | undefined): void {
    const time = timeOf(draft)
    if (time === undefined && this.#waits(draft)) {
      this.#held.push({ draft, number })
      return
    }
    const own = time ?? this.#last ?? this.#now()
    if (this.#held.length > 0) this.#release(own)
    this.#row(draft, own, number)
  }

  /** Nothing follows: passes on the rows that still wait. */
  end(): void {
    if (this.#held.length > 0) this.#release(this.#last ?? this.#now())
  }

  /** A run starts at the time of its first event, however long the pause before it was. */
  #waits({ event }: Draft): boolean {
    return this.#last === undefined ? this.#held.length < this.#mostWaiting : event.kind === 'run.started'
  }

  #release(time: number): void {
    const waited = this.#held
    this.#held = []
    for (const { draft, number } of waited) this.#row(draft, time, number)
  }

  #row({ run, event, at, seq }: Draft, time: number, number: number | undefined): void {
    this.#seq = seq ?? this.#seq + 1
    if (seq !== undefined && at !== undefined) this.#last = at
    else this.#last = Math.max(this.#last ?? time, time)
    this.#taker.takeRow({ seq: this.#seq, at: this.#last, run, event }, number)
  }
}

/** Whole milliseconds. 0 means that the event has no time, and a Date holds no more than 8.64e15. */
function timeOf({ at, event, seq }: Draft): number | undefined {
  if (seq !== undefined && at !== undefined) return at
  const time = at ?? (event.kind === 'agent' ? event.event.timestamp : undefined)
  return time !== undefined && time > 0 && time <= 8.64e15 ? Math.round(time) : undefined
}
