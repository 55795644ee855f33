/**
 * Binary search: the first index in [0, length) for which `isAfter` holds, or `length` if it holds for none. `isAfter`
 * must be false up to some index and true from there on.
 */
export function firstIndexWhere(length: number, isAfter: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isAfter(middle)) high = middle
    else low = middle + 1
  }
  return low
}
