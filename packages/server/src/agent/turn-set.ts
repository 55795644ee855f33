/**
 * What was seen in this turn of the event loop. A look at the disk for each run costs a busy server a thirtieth of its
 * time; runs that begin in one turn can share one look, because no client can have changed a file in between and know it.
 */
export class TurnSet {
  #seen = new Set<string>()

  has(value: string): boolean {
    return this.#seen.has(value)
  }

  add(value: string): void {
    if (this.#seen.size === 0)
      setImmediate(() => {
        this.#seen = new Set()
      })
    this.#seen.add(value)
  }
}
