const finished: IteratorReturnResult<undefined> = { done: true, value: undefined }

/**
 * Where a run's events gather on their way out: many writers (ADK's stream, specialists, nodes), one reader. Writers
 * never block in the middle of ADK's machinery; whoever can wait asks for `room`, so that a slow log slows the model.
 * An iterator by hand: a generator around a generator costs each token several turns of the microtask queue.
 */
export class BoundedQueue<T> implements AsyncIterableIterator<T> {
  readonly #capacity: number
  readonly #left: () => void
  #queue: T[] = []
  #head = 0
  #over = false
  #reader: ((result: IteratorResult<T>) => void) | undefined
  #waiting: (() => void)[] = []

  /** `left` is called when the reader goes before the end. */
  constructor(capacity: number, left: () => void) {
    this.#capacity = capacity
    this.#left = left
  }

  push(value: T): void {
    if (this.#over) return
    if (this.#reader === undefined) this.#queue.push(value)
    else {
      this.#reader({ done: false, value })
      this.#reader = undefined
    }
  }

  /** What was pushed is still read; later pushes are dropped. */
  end(): void {
    if (this.#over) return
    this.#over = true
    this.#reader?.(finished)
    this.#reader = undefined
    this.#wakeWriters()
  }

  get full(): boolean {
    return !this.#over && this.#queue.length - this.#head >= this.#capacity
  }

  /** Resolves when it is not full, or over. */
  async room(): Promise<void> {
    while (this.full) await new Promise<void>((resume) => this.#waiting.push(resume))
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#head < this.#queue.length) return Promise.resolve({ done: false, value: this.#take() })
    if (this.#over) return Promise.resolve(finished)
    return new Promise((resolve) => {
      this.#reader = resolve
    })
  }

  return(): Promise<IteratorResult<T>> {
    if (!this.#over) this.#left()
    this.end()
    this.#queue = []
    this.#head = 0
    return Promise.resolve(finished)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #take(): T {
    const value = this.#queue[this.#head] as T
    this.#head += 1
    if (this.#head === this.#queue.length) {
      this.#queue = []
      this.#head = 0
    }
    if (this.#waiting.length > 0 && !this.full) this.#wakeWriters()
    return value
  }

  #wakeWriters(): void {
    const woken = this.#waiting
    this.#waiting = []
    for (const wake of woken) wake()
  }
}
