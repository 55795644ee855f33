import type { Signal } from '@millrace/core'

/**
 * A signal and its controller in one, for use inside the server: each stream needs two. Node gives every `AbortSignal` a
 * prototype after it was made, for which V8 makes a hidden class of its own. So one that is listened to takes 3 to 5 µs,
 * a kilobyte that only a full collection frees, and makes all code slow that handles such signals.
 */
export class Stop implements Signal {
  readonly #listeners = new Set<() => void>()
  #aborted = false

  get aborted(): boolean {
    return this.#aborted
  }

  /** Calls the listeners, the first time. */
  abort(): void {
    if (this.#aborted) return
    this.#aborted = true
    for (const listener of [...this.#listeners]) listener()
    this.#listeners.clear()
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener)
  }
}
