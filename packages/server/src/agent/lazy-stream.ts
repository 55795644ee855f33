export interface StreamHooks<T> {
  /** Gets each value, and returns what is passed on. */
  readonly pass?: (value: T) => T
  /** Called once, when the stream has ended, has failed, or was left. */
  readonly ended?: () => void
}

/** A stream that may have several values at once. */
export interface ReadyIterator<T> extends AsyncIterator<T> {
  /** The next value if it is available now; undefined if `next` must be awaited, which costs more than most values do. */
  ready?(): T | undefined
  /** Whether the stream has ended, so that only the values available now can still be read. */
  over?(): boolean
}

/** A stream that calls `ready` when it is first read. Written by hand: a generator would slow down every event. */
export function lazyStream<T>(ready: () => Promise<AsyncIterable<T>>, hooks: StreamHooks<T> = {}): AsyncIterable<T> {
  const { pass, ended } = hooks
  return {
    [Symbol.asyncIterator]() {
      let inner: ReadyIterator<T> | undefined
      let left = false
      let over = false
      const end = (): void => {
        if (!over) ended?.()
        over = true
      }
      const seen = (result: IteratorResult<T>): IteratorResult<T> => {
        if (result.done !== true) return pass === undefined ? result : { done: false, value: pass(result.value) }
        end()
        return result
      }
      const failed = (error: unknown): never => {
        end()
        throw error
      }
      const next = (from: AsyncIterator<T>): Promise<IteratorResult<T>> =>
        pass === undefined && ended === undefined ? from.next() : from.next().then(seen, failed)
      const iterator: ReadyIterator<T> = {
        ready() {
          const value = inner?.ready?.()
          return value === undefined || pass === undefined ? value : pass(value)
        },
        over: () => inner?.over?.() === true,
        next() {
          if (inner !== undefined) return next(inner)
          return ready().then((stream) => {
            inner = stream[Symbol.asyncIterator]()
            if (!left) return next(inner)
            end()
            return { done: true as const, value: undefined }
          })
        },
        return() {
          left = true
          if (inner !== undefined) end()
          return inner?.return?.() ?? Promise.resolve({ done: true as const, value: undefined })
        },
      }
      return iterator
    },
  }
}
