import { performance } from 'node:perf_hooks'

const look = 25

/**
 * Whether `work` settles before this process has been idle for `patience` ms. Time that the process is busy does not
 * count: a slow import keeps it busy, one that never ends does not. `longest` bounds the wait all the same. `elsewhere`
 * says for how long another process has been idle, where the work is done by one.
 */
export function settlesIn(
  work: Promise<unknown>,
  patience: number,
  longest = Number.POSITIVE_INFINITY,
  elsewhere: () => number | undefined = () => undefined,
): Promise<boolean> {
  return new Promise((resolve) => {
    const since = performance.eventLoopUtilization()
    const began = performance.now()
    const timer = setInterval(
      () => {
        const idle = elsewhere() ?? performance.eventLoopUtilization(since).idle
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
