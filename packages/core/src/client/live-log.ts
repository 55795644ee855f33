import type { Recorded } from '../event/run-event.ts'
import type { View } from '../view/view.ts'

/** A log in the hands of a page: rows come in, views are folded as far as they are asked for, at any moment of it. */
export interface LiveLog {
  append(rows: readonly Recorded[]): void
  /** Every row shown so far; the same array until more are shown. */
  readonly rows: readonly Recorded[]
  /** The seq of the last row shown; 0 when there is none. */
  readonly lastSeq: number
  /** A view folded to the last row shown. The same reference until something it folds has changed. */
  read<S>(view: View<S>): S
  /** A view as it was after the row `seq`: time travel, from the nearest kept state. */
  readAt<S>(view: View<S>, seq: number): S
  /** Told after rows came, at most once per turn of `schedule`. */
  subscribe(listener: () => void): () => void
}

/** States are kept every so many rows: stepping anywhere folds fewer. Views share structure, so a kept state is small. */
const spacing = 256

interface Fold {
  /** kept[i] is the state after i * spacing rows. */
  readonly kept: unknown[]
  count: number
  state: unknown
  /** Where time travel was last, so that stepping forward folds one row. */
  travelled: { readonly count: number; readonly state: unknown } | undefined
}

/** `schedule` decides when readers are told: an animation frame on a page, at once in a test. */
export function liveLog(schedule: (flush: () => void) => void): LiveLog {
  const all: Recorded[] = []
  const folds = new Map<View<never>, Fold>()
  const listeners = new Set<() => void>()
  /** How many rows readers have been told of; the array of them is made when somebody asks for it. */
  let shown = 0
  let listed: readonly Recorded[] = []
  let scheduled = false

  const flush = (): void => {
    scheduled = false
    shown = all.length
    for (const listener of [...listeners]) listener()
  }
  const foldOf = (view: View<never>): Fold => {
    const known = folds.get(view)
    if (known !== undefined) return known
    const fold: Fold = { kept: [view.initial], count: 0, state: view.initial, travelled: undefined }
    folds.set(view, fold)
    return fold
  }
  /** Brings a fold to the last row shown, keeping states on the way. */
  const advance = <S>(view: View<S>): Fold => {
    const fold = foldOf(view as unknown as View<never>)
    let state = fold.state as S
    for (let i = fold.count; i < shown; i++) {
      state = view.apply(state, all[i] as Recorded)
      if ((i + 1) % spacing === 0) fold.kept.push(state)
    }
    fold.count = shown
    fold.state = state
    return fold
  }

  return {
    append(rows) {
      if (rows.length === 0) return
      for (const row of rows) all.push(row)
      if (scheduled) return
      scheduled = true
      schedule(flush)
    },
    get rows() {
      if (listed.length !== shown) listed = all.slice(0, shown)
      return listed
    },
    get lastSeq() {
      return all[shown - 1]?.seq ?? 0
    },
    read: (view) => advance(view).state as never,
    readAt<S>(view: View<S>, seq: number): S {
      const fold = advance(view)
      const wanted = countUpTo(all, shown, seq)
      if (wanted === shown) return fold.state as S
      const slot = Math.floor(wanted / spacing)
      const { travelled } = fold
      const near = travelled !== undefined && travelled.count <= wanted && travelled.count >= slot * spacing
      let count = near ? travelled.count : slot * spacing
      let state = (near ? travelled.state : fold.kept[slot]) as S
      for (; count < wanted; count++) state = view.apply(state, all[count] as Recorded)
      fold.travelled = { count, state }
      return state
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** How many rows have a seq up to this one; seqs grow, with gaps where partials were pruned. */
function countUpTo(rows: readonly Recorded[], length: number, seq: number): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rows[middle]?.seq ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return low
}
