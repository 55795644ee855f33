/**
 * Where a run's events gather on their way out: many writers (ADK's stream, specialists, nodes), one reader. Writers
 * never block in the middle of ADK's machinery; whoever can wait asks for `room`, so that a slow log slows the model.
 * An iterator by hand: a generator around a generator costs each token several turns of the microtask queue.
 */
export interface Outlet<T> extends AsyncIterableIterator<T> {
  push(value: T): void
  /** What was pushed is still read; later pushes are dropped. */
  end(error?: unknown): void
  readonly full: boolean
  /** Resolves when it is not full, or over. */
  room(): Promise<void>
}

/** `left` is called once, when the reader goes before the end. */
export function outlet<T>(capacity = 256, left: () => void = () => {}): Outlet<T> {
  let queue: T[] = []
  let head = 0
  let over = false
  let failure: { readonly error: unknown } | undefined
  let reader: { resolve(result: IteratorResult<T>): void; reject(error: unknown): void } | undefined
  let waiting: (() => void)[] = []
  const finished: IteratorReturnResult<undefined> = { done: true, value: undefined }

  const wakeWriters = (): void => {
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }
  const take = (): T => {
    const value = queue[head] as T
    head += 1
    if (head === queue.length) {
      queue = []
      head = 0
    }
    if (waiting.length > 0 && queue.length - head < capacity) wakeWriters()
    return value
  }
  const end = (error?: unknown): void => {
    if (over) return
    over = true
    if (error !== undefined) failure = { error }
    if (failure === undefined) reader?.resolve(finished)
    else reader?.reject(failure.error)
    reader = undefined
    wakeWriters()
  }

  return {
    push(value) {
      if (over) return
      if (reader === undefined) queue.push(value)
      else {
        reader.resolve({ done: false, value })
        reader = undefined
      }
    },
    end,
    get full() {
      return !over && queue.length - head >= capacity
    },
    async room() {
      while (!over && queue.length - head >= capacity) await new Promise<void>((resume) => waiting.push(resume))
    },
    next() {
      if (head < queue.length) return Promise.resolve({ done: false, value: take() })
      if (failure !== undefined) return Promise.reject(failure.error)
      if (over) return Promise.resolve(finished)
      return new Promise((resolve, reject) => {
        reader = { resolve, reject }
      })
    },
    return() {
      if (!over) left()
      end()
      queue = []
      head = 0
      return Promise.resolve(finished)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
