import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { median } from './row.ts'

/** Milliseconds, for a bar that is not a ratio: the best of many, which other work on the machine does not change. */
export function best(work: () => void, repetitions = 300): number {
  return Math.min(...Array.from({ length: repetitions }, () => timed(work)))
}

/** Milliseconds. */
export function timed(work: () => void): number {
  const begun = performance.now()
  work()
  return performance.now() - begun
}

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Megabytes that stay on the heap for what `make` returns, measured on twenty at once because the heap changes by itself too. */
export function heapOf(make: () => unknown): number {
  make()
  const sizes = Array.from({ length: 5 }, () => {
    collect()
    const before = process.memoryUsage().heapUsed
    const held = Array.from({ length: 20 }, make)
    collect()
    const size = process.memoryUsage().heapUsed - before
    if (held.length !== 20) throw new Error('nothing was made')
    return size / held.length
  })
  return median(sizes) / 1e6
}
