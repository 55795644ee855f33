/** A thing of both lists, or of one. */
export interface Edit<T> {
  readonly of: 'both' | 'a' | 'b'
  readonly step: T
}

/** Cells of the table of common subsequences. Longer lists are compared place by place after their common beginning. */
const mostCells = 4_000_000

/** What turns one list into the other, with as much in common as possible. */
export function editsOf<T>(a: readonly T[], b: readonly T[], keyOf: (step: T) => string): readonly Edit<T>[] {
  const [left, right] = [a.map(keyOf), b.map(keyOf)]
  let begin = 0
  while (begin < left.length && begin < right.length && left[begin] === right[begin]) begin++
  const edits: Edit<T>[] = a.slice(0, begin).map((step) => ({ of: 'both', step }))
  const [rows, columns] = [left.length - begin, right.length - begin]
  if (rows * columns > mostCells)
    return [
      ...edits,
      ...a.slice(begin).map((step) => ({ of: 'a', step }) as const),
      ...b.slice(begin).map((step) => ({ of: 'b', step }) as const),
    ]
  // lengths[i][j]: how long the longest common subsequence of the rest from i and j is.
  const width = columns + 1
  const lengths = new Uint32Array((rows + 1) * width)
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0
  for (let i = rows - 1; i >= 0; i--)
    for (let j = columns - 1; j >= 0; j--)
      lengths[i * width + j] =
        left[begin + i] === right[begin + j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  let [i, j] = [0, 0]
  while (i < rows || j < columns) {
    const [mine, other] = [a[begin + i], b[begin + j]]
    if (i < rows && j < columns && mine !== undefined && left[begin + i] === right[begin + j]) {
      edits.push({ of: 'both', step: mine })
      i++
      j++
    } else if (mine !== undefined && i < rows && (j >= columns || at(i + 1, j) >= at(i, j + 1))) {
      edits.push({ of: 'a', step: mine })
      i++
    } else {
      if (other !== undefined) edits.push({ of: 'b', step: other })
      j++
    }
  }
  return edits
}
