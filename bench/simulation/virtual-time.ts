/** A clock that jumps from one piece of work to the next: hours of a thousand servers pass in a minute. */
export class VirtualTime {
  now = 0
  #order = 0
  readonly #heap: { readonly at: number; readonly order: number; readonly work: () => void }[] = []

  /** Does the work after so many ms; work of one moment in the order in which it was asked for. */
  after(ms: number, work: () => void): void {
    const heap = this.#heap
    const entry = { at: this.now + ms, order: this.#order++, work }
    let i = heap.length
    heap.push(entry)
    while (i > 0) {
      const parent = (i - 1) >> 1
      const above = heap[parent]
      if (above === undefined || !isBefore(entry, above)) break
      heap[i] = above
      i = parent
    }
    heap[i] = entry
  }

  /** Until `isDone`, or until this time is reached. */
  run(isDone: () => boolean, until: number): void {
    for (let next = this.#take(); next !== undefined && next.at <= until && !isDone(); next = this.#take()) {
      this.now = next.at
      next.work()
    }
  }

  #take() {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      const [left, right] = [heap[child], heap[child + 1]]
      if (left === undefined) break
      let least = left
      if (right !== undefined && isBefore(right, left)) {
        least = right
        child += 1
      }
      if (!isBefore(least, last)) break
      heap[i] = least
      i = child
    }
    heap[i] = last
    return first
  }
}

interface Entry {
  readonly at: number
  readonly order: number
}
function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
