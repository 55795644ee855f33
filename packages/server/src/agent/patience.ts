import { performance } from 'node:perf_hooks'

const look = 25

/** How another process gets on with the work. */
export interface Progress {
  /** It waits for its turn and has not begun. */
  readonly queued: boolean
  /** For how many milliseconds it has waited for something since it began. */
  readonly idle: number
}

/**
 * Whether `work` settles before this process has been idle for `patience` ms. Time that the process is busy does not
 * count: a slow import keeps it busy, one that never ends does not. `longest` bounds the wait all the same. `elsewhere`
 * says how another process gets on, where the work is done by one; time in a queue does not count.
 */
export function settlesIn(
  work: Promise<unknown>,
  patience: number,
  longest = Number.POSITIVE_INFINITY,
  elsewhere: () => Progress | undefined = () => undefined,
): Promise<boolean> {
  return new Promise((resolve) => {
    const since = performance.eventLoopUtilization()
    let began = performance.now()
    const timer = setInterval(
      () => {
        const other = elsewhere()
        if (other?.queued === true) began = performance.now()
        const { idle } = other ?? performance.eventLoopUtilization(since)
        if (idle >= patience || performance.now() - began >= longest) done(false)
      },
      Math.max(1, Math.min(look, patience)),
    )
    const done = (settled: boolean): void => {
      clearInterval(timer)
      resolve(settled)
    }
    work.then(
      () => done(true),
      () => done(true),
    )
  })
}
