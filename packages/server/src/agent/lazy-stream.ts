/**
 * A stream that calls `ready` when it is first read, and `saw` for each value. Written by hand: a generator would slow down
 * every event.
 */
export function lazyStream<T>(ready: () => Promise<AsyncIterable<T>>, saw?: (value: T) => void): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      let inner: AsyncIterator<T> | undefined
      let left = false
      const seen = (result: IteratorResult<T>): IteratorResult<T> => {
        if (result.done !== true) saw?.(result.value)
        return result
      }
      const next = (from: AsyncIterator<T>): Promise<IteratorResult<T>> =>
        saw === undefined ? from.next() : from.next().then(seen)
      return {
        next() {
          if (inner !== undefined) return next(inner)
          return ready().then((stream) => {
            inner = stream[Symbol.asyncIterator]()
            return left ? { done: true as const, value: undefined } : next(inner)
          })
        },
        return() {
          left = true
          return inner?.return?.() ?? Promise.resolve({ done: true as const, value: undefined })
        },
      }
    },
  }
}
