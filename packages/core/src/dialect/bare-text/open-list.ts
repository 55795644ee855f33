/** Open items in the order of opening. `first`, `last` and `close` are O(1) amortised, however many are open. */
export class OpenList<T extends object> {
  #items: T[] = []
  #head = 0
  /** Closed, but still in `#items`, between open ones. */
  readonly #closed = new Set<T>()

  get size(): number {
    return this.#items.length - this.#head - this.#closed.size
  }

  get first(): T | undefined {
    for (let item = this.#items[this.#head]; item !== undefined; item = this.#items[++this.#head]) {
      if (!this.#closed.delete(item)) return item
    }
    return undefined
  }

  get last(): T | undefined {
    for (let item = this.#items.at(-1); this.#items.length > this.#head; item = this.#items.at(-1)) {
      if (item !== undefined && !this.#closed.delete(item)) return item
      this.#items.pop()
    }
    return undefined
  }

  open(item: T): void {
    this.#items.push(item)
  }

  /** Closes an item that is open. */
  close(item: T): void {
    this.#closed.add(item)
    if (this.#closed.size < 32 || this.#closed.size < this.size) return
    this.#items = this.#items.slice(this.#head).filter((each) => !this.#closed.has(each))
    this.#head = 0
    this.#closed.clear()
  }
}
