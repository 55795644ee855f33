/** Marks that are drawn as one, because there is no room for each of them. */
export interface Crowd<T> {
  readonly first: T
  readonly last: T
  readonly count: number
}

/** Joins marks that are less than `least` pixels after the first of their crowd. `marks` must be in order. */
export function crowds<T>(marks: readonly T[], left: (mark: T) => number, least: number): readonly Crowd<T>[] {
  const made: { first: T; last: T; count: number; readonly from: number }[] = []
  for (const mark of marks) {
    const at = left(mark)
    const before = made.at(-1)
    if (before !== undefined && at - before.from < least) {
      before.last = mark
      before.count += 1
    } else made.push({ first: mark, last: mark, count: 1, from: at })
  }
  return made
}
