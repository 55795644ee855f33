import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises'

/** Gives one caller after the other a turn; `rest` is awaited after each. */
function turns(rest: (took: number) => Promise<void>): () => Promise<void> {
  const waiting: (() => void)[] = []
  let isServing = false
  const serve = async (): Promise<void> => {
    await nextTurn()
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const begun = performance.now()
      next()
      await nextTurn()
      await rest(performance.now() - begun)
    }
    isServing = false
  }
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (isServing) return
      isServing = true
      void serve()
    })
}

/**
 * Resolves in a turn of the event loop that no other caller gets: requests, timers and other connections are served in
 * between. Long work that is done in slices calls it before each slice. With `setImmediate` alone, the slices of all that
 * is at work would run in the same turn, one after the other.
 */
export const ownTurn = turns(async () => undefined)

/** The longest rest, in ms. */
const longestRest = 1000

/**
 * The same for a slice that cannot be divided and may take a tenth of a second, such as parsing a large event. After each
 * of them comes a rest of twice its length, so that all of them together leave most of the time to other work.
 */
export const longTurn = turns(async (took) => {
  if (took > 4) await setTimeout(Math.min(longestRest, 2 * took))
})
