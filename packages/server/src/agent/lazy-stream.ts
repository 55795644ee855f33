/** A stream that calls `ready` when it is first read. Written by hand: a generator would slow down every event. */
export function lazyStream<T>(ready: () => Promise<AsyncIterable<T>>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      let inner: AsyncIterator<T> | undefined
      let left = false
      return {
        next() {
          if (inner !== undefined) return inner.next()
          return ready().then((stream) => {
            inner = stream[Symbol.asyncIterator]()
            return left ? { done: true as const, value: undefined } : inner.next()
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
