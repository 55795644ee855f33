import type { Recorded } from '../event/run-event.ts'
import { firstIndexWhere } from '../persistent/search.ts'
import type { View } from '../view/view.ts'

/** The log of a page: it takes rows and folds views on demand, up to any row. */
export interface LiveLog {
  append(rows: readonly Recorded[]): void
  /**
   * Appends many rows in steps. Each step folds some of them into one of the views that were read before, and the last one
   * shows them all: a page that pauses between two steps stays responsive while it opens a long session.
   */
  appendSteps(rows: readonly Recorded[]): Generator<undefined, void, void>
  /**
   * Adds earlier rows that were left out so far: partials of finished messages. They change no view after the end of
   * their run (SPEC 5.3), so states folded beyond it stay valid.
   */
  insert(rows: readonly Recorded[]): void
  /** Every row shown so far; the same array until more are shown. */
  readonly rows: readonly Recorded[]
  /** The seq of the last row shown; 0 when there is none. */
  readonly lastSeq: number
  /** A view folded to the last row shown. The same reference until something it folds has changed. */
  read<S>(view: View<S>): S
  /** A view as it was after the row `seq`, folded from the nearest kept state. */
  readAt<S>(view: View<S>, seq: number): S
  /** Calls the listener after rows were added, at most once per turn of `schedule`. */
  subscribe(listener: () => void): () => void
}

/** A state is kept every 256 rows, so that a jump folds at most that many. Views share structure: a kept state is small. */
const spacing = 256
/** The rows of one step of `appendSteps`. */
const stepLength = 256

/** A state after `count` rows, the last of which is `seq`. */
interface Kept {
  readonly seq: number
  readonly count: number
  readonly state: unknown
}

interface Fold {
  /** From the initial state on, by count. */
  kept: Kept[]
  /** How far it is folded. */
  end: Kept
  /** How far it is folded beyond the last row shown. */
  ahead: Kept | undefined
  /** The state of the last `readAt`, so that a step forward folds one row. */
  travelled: Kept | undefined
}

/** `schedule` decides when listeners are called: in an animation frame on a page, at once in a test. */
export function liveLog(schedule: (flush: () => void) => void): LiveLog {
  let all: Recorded[] = []
  const folds = new Map<View<never>, Fold>()
  const listeners = new Set<() => void>()
  /** How many rows are shown; the array of them is made on demand. */
  let shown = 0
  let listed: readonly Recorded[] = []
  let scheduled = false

  const flush = (): void => {
    scheduled = false
    shown = all.length
    for (const listener of [...listeners]) listener()
  }
  const notify = (): void => {
    if (scheduled) return
    scheduled = true
    schedule(flush)
  }
  const foldOf = (view: View<never>): Fold => {
    const known = folds.get(view)
    if (known !== undefined) return known
    const first: Kept = { seq: 0, count: 0, state: view.initial }
    const fold: Fold = { kept: [first], end: first, ahead: undefined, travelled: undefined }
    folds.set(view, fold)
    return fold
  }
  /** Folds on from a kept state, keeping states on the way. */
  const foldOn = <S>(view: View<S>, fold: Fold, from: Kept, upTo: number): S => {
    let state = from.state as S
    let place = countUpTo(fold.kept, fold.kept.length, from.seq)
    for (let i = from.count; i < upTo; i++) {
      const row = all[i] as Recorded
      state = view.apply(state, row)
      if (i + 1 - (fold.kept[place - 1]?.count ?? 0) < spacing) continue
      if (fold.kept[place]?.seq !== row.seq) fold.kept.splice(place, 0, { seq: row.seq, count: i + 1, state })
      place += 1
    }
    return state
  }
  /** Brings a fold to the last row shown. */
  const advance = <S>(view: View<S>): Fold => {
    const fold = foldOf(view as unknown as View<never>)
    if (fold.end.count < shown) {
      const { ahead } = fold
      const from = ahead !== undefined && ahead.count <= shown ? ahead : fold.end
      const state = foldOn(view, fold, from, shown)
      fold.end = { seq: all[shown - 1]?.seq ?? 0, count: shown, state }
      fold.ahead = undefined
    }
    return fold
  }

  return {
    append(rows) {
      if (rows.length === 0) return
      for (const row of rows) all.push(row)
      notify()
    },
    *appendSteps(rows) {
      for (const row of rows) all.push(row)
      for (const [view, fold] of folds) {
        for (let from = fold.end; from.count < all.length; from = fold.ahead ?? fold.end) {
          const count = Math.min(all.length, from.count + stepLength)
          const state = foldOn(view, fold, from, count)
          fold.ahead = { seq: all[count - 1]?.seq ?? 0, count, state }
          yield undefined
        }
      }
      if (rows.length > 0) notify()
    },
    insert(rows) {
      const missing = rows.filter(({ seq }) => all[countUpTo(all, all.length, seq) - 1]?.seq !== seq)
      if (missing.length === 0) return
      const last = all[shown - 1]?.seq ?? 0
      all = merged(all, missing)
      shown = countUpTo(all, all.length, last)
      const stale = staleSpans(missing, all)
      for (const [view, fold] of folds) {
        if (view.dependsOnPartials === true) folds.delete(view)
        else refit(fold, stale, all)
      }
      notify()
    },
    get rows() {
      if (listed.length !== shown) listed = all.slice(0, shown)
      return listed
    },
    get lastSeq() {
      return all[shown - 1]?.seq ?? 0
    },
    read: (view) => advance(view).end.state as never,
    readAt<S>(view: View<S>, seq: number): S {
      const fold = advance(view)
      const wanted = countUpTo(all, shown, seq)
      if (wanted === shown) return fold.end.state as S
      const last = all[wanted - 1]?.seq ?? 0
      const below = fold.kept[countUpTo(fold.kept, fold.kept.length, last) - 1] as Kept
      const { travelled } = fold
      const near = travelled !== undefined && travelled.count <= wanted && travelled.count >= below.count
      const state = foldOn(view, fold, near ? travelled : below, wanted)
      fold.travelled = { seq: last, count: wanted, state }
      return state
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** How many of the first `length` rows have a seq up to this one; seqs grow, with gaps where partials were pruned. */
function countUpTo(rows: readonly { readonly seq: number }[], length: number, seq: number): number {
  return firstIndexWhere(length, (i) => (rows[i]?.seq ?? 0) > seq)
}

/** Merges two lists of rows that are in order and have no row in common. */
function merged(rows: readonly Recorded[], more: readonly Recorded[]): Recorded[] {
  const made: Recorded[] = []
  let next = 0
  for (const row of rows) {
    for (let other = more[next]; other !== undefined && other.seq < row.seq; other = more[next]) {
      made.push(other)
      next += 1
    }
    made.push(row)
  }
  return [...made, ...more.slice(next)]
}

interface Span {
  readonly from: number
  /** The seq of the end of the run, from which on nothing differs. */
  readonly to: number
}

/** Where the new rows change states: in each of their runs, from the first new row to the end of the run. */
function staleSpans(missing: readonly Recorded[], all: readonly Recorded[]): readonly Span[] {
  const first = new Map<string, number>()
  for (const { run, seq } of missing) if (!first.has(run)) first.set(run, seq)
  const ends = new Map<string, number>()
  for (const { run, seq, event } of all) if (event.kind === 'run.finished' && first.has(run)) ends.set(run, seq)
  return [...first].map(([run, from]) => ({ from, to: ends.get(run) ?? Number.POSITIVE_INFINITY }))
}

/** Keeps the states that are still valid, with their new counts. If the end is not, the nearest kept state becomes the end. */
function refit(fold: Fold, stale: readonly Span[], all: readonly Recorded[]): void {
  const holds = ({ seq }: Kept): boolean => !stale.some(({ from, to }) => from <= seq && seq < to)
  const placed = (kept: Kept): Kept => ({ ...kept, count: countUpTo(all, all.length, kept.seq) })
  fold.kept = fold.kept.filter(holds).map(placed)
  fold.travelled = undefined
  fold.ahead = undefined
  fold.end = holds(fold.end) ? placed(fold.end) : (fold.kept.at(-1) as Kept)
}
