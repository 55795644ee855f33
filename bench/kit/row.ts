/** One line of `npm run bench`: a number of ours beside a peer's, from one run. */
export interface Row {
  readonly what: string
  readonly ours: number
  readonly peer: string
  readonly peerValue: number
  /** What lies beneath both: the best that could be reached. */
  readonly limit: string
  readonly ratio: number
  readonly bar: string
  readonly ok: boolean
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export interface Compared {
  readonly ours: number
  readonly peer: number
  readonly ratio: number
}

/**
 * Milliseconds of ours and of the peer, medians of `repetitions` after a warm-up. The two take turns, and the ratio is
 * the median of the ratios of neighbours, so a slow moment of the machine hits both sides of it.
 */
export function sideBySide(ours: () => void, peer: () => void, repetitions = 41): Compared {
  const pairs: [number, number][] = []
  for (let i = -5; i < repetitions; i++) {
    const pair: [number, number] = [0, 0]
    for (const side of i % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const begun = performance.now()
      if (side === 0) ours()
      else peer()
      pair[side] = performance.now() - begun
    }
    if (i >= 0) pairs.push(pair)
  }
  return compared(pairs)
}

/** The same for work that is awaited. */
export async function sideBySideAsync(
  ours: () => Promise<void>,
  peer: () => Promise<void>,
  repetitions = 21,
): Promise<Compared> {
  const pairs: [number, number][] = []
  for (let i = -3; i < repetitions; i++) {
    const pair: [number, number] = [0, 0]
    for (const side of i % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const begun = performance.now()
      await (side === 0 ? ours() : peer())
      pair[side] = performance.now() - begun
    }
    if (i >= 0) pairs.push(pair)
  }
  return compared(pairs)
}

function compared(pairs: readonly (readonly [number, number])[]): Compared {
  return {
    ours: median(pairs.map(([mine]) => mine)),
    peer: median(pairs.map(([, theirs]) => theirs)),
    ratio: median(pairs.map(([mine, theirs]) => mine / theirs)),
  }
}
