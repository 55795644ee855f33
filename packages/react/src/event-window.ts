/**
 * The newest events of a list, at most `most` of them. Appending does not copy the earlier events: windows share one
 * array that only grows at its end, and after `most` appends the window moves to a new array. Amortised O(1).
 */
export class EventWindow<T> {
  readonly length: number
  readonly #most: number
  readonly #shared: T[]
  readonly #end: number
  #array: T[] | undefined

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
    // A new array is needed when a newer window has already appended to this one, or when it has reached twice `most`.
    const own = this.#end === this.#shared.length && this.#end < 2 * this.#most
    const shared = own ? this.#shared : this.#shared.slice(this.#end - Math.min(this.length, this.#most - 1), this.#end)
    shared.push(event)
    return new EventWindow(this.#most, shared, shared.length)
  }

  /** Built once per window. */
  toArray(): T[] {
    this.#array ??= this.#shared.slice(this.#end - this.length, this.#end)
    return this.#array
  }
}
