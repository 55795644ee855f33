/**
 * The newest events of a list, at most `most`. Appending takes no copy of those before: windows share one array that
 * only grows at its end, and every `most` appends the window moves to a new one, which is O(1) amortised.
 */
export class EventWindow<T> {
  readonly length: number
  readonly #most: number
  readonly #shared: T[]
  readonly #end: number
  #array: readonly T[] | undefined

  private constructor(most: number, shared: T[], end: number) {
    this.#most = most
    this.#shared = shared
    this.#end = end
    this.length = Math.min(end, most)
  }

  static of<T>(most: number): EventWindow<T> {
    return new EventWindow<T>(Math.max(1, Math.trunc(most)), [], 0)
  }

  append(event: T): EventWindow<T> {
    // An older window that goes on by itself, and one whose array has grown to twice its size, begin a new array.
    const own = this.#end === this.#shared.length && this.#end < 2 * this.#most
    const shared = own ? this.#shared : this.#shared.slice(this.#end - Math.min(this.length, this.#most - 1), this.#end)
    shared.push(event)
    return new EventWindow(this.#most, shared, shared.length)
  }

  /** Made once per window. */
  toArray(): readonly T[] {
    this.#array ??= this.#shared.slice(this.#end - this.length, this.#end)
    return this.#array
  }
}
