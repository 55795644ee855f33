import { nextTick } from 'node:process'
import type { ReadyIterator } from './lazy-stream.ts'

const finished: IteratorReturnResult<undefined> = { done: true, value: undefined }

/**
 * The events of one run on their way to the log: many writers (ADK's stream, specialists, nodes), one reader. `push`
 * never blocks, because most writers are inside ADK's own code; a writer that can wait awaits `room`, so that a slow log
 * slows the model down. The iterator is written by hand: a generator around a generator costs each token several turns
 * of the microtask queue.
 */
export class BoundedQueue<T> implements AsyncIterableIterator<T>, ReadyIterator<T> {
  readonly #capacity: number
  readonly #left: () => void
  #queue: T[] = []
  #head = 0
  #over = false
  #reader: ((result: IteratorResult<T>) => void) | undefined
  #waiting: (() => void)[] = []
  #wakesSoon = false

  /** `left` is called when the reader stops before the end. */
  constructor(capacity: number, left: () => void) {
    this.#capacity = capacity
    this.#left = left
  }

  push(value: T): void {
    if (this.#over) return
    this.#queue.push(value)
    this.#wakeReader()
  }

  /**
   * The same for a value that its reader need not have at once: a reader that waits gets what was pushed until the
   * promises of this turn have settled. Waking it for each token of a burst takes longer than handling the tokens.
   */
  pushSoon(value: T): void {
    if (this.#over) return
    this.#queue.push(value)
    if (this.#reader === undefined || this.#wakesSoon) return
    this.#wakesSoon = true
    nextTick(() => {
      this.#wakesSoon = false
      this.#wakeReader()
    })
  }

  /** Values that were pushed before can still be read; later ones are dropped. */
  end(): void {
    if (this.#over) return
    this.#over = true
    this.#wakeReader()
    this.#reader?.(finished)
    this.#reader = undefined
    this.#wakeWriters()
  }

  get full(): boolean {
    return !this.#over && this.#queue.length - this.#head >= this.#capacity
  }

  /** Resolves once the queue is not full, or has ended. */
  async room(): Promise<void> {
    while (this.full) await new Promise<void>((resume) => this.#waiting.push(resume))
  }

  ready(): T | undefined {
    return this.#head < this.#queue.length ? this.#take() : undefined
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

  #wakeReader(): void {
    const reader = this.#reader
    if (reader === undefined || this.#head === this.#queue.length) return
    this.#reader = undefined
    reader({ done: false, value: this.#take() })
  }

  #wakeWriters(): void {
    const woken = this.#waiting
    this.#waiting = []
    for (const wake of woken) wake()
  }
}
