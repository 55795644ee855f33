/** Questions that wait for a person, as both sides of the wire count them: the n-th of a run is `run:interrupt#n`. */
export class OpenInterrupts {
  readonly #open = new Map<string, { readonly name: string; readonly run: string }>()
  readonly #asked = new Map<string, number>()

  impliedId(run: string): string {
    return `${run}:interrupt#${(this.#asked.get(run) ?? 0) + 1}`
  }

  ask(id: string, name: string, run: string): void {
    this.#asked.set(run, (this.#asked.get(run) ?? 0) + 1)
    this.#open.set(id, { name, run })
  }

  answer(id: string): void {
    this.#open.delete(id)
  }

  nameOf(id: string): string {
    return this.#open.get(id)?.name ?? ''
  }

  /** What an answer to this node answers: the latest question, of this node where it has one. */
  latest(name: string): string | undefined {
    const open = [...this.#open]
    return (open.findLast(([, asked]) => asked.name === name) ?? open.at(-1))?.[0]
  }

  asks(name: string): boolean {
    return [...this.#open.values()].some((asked) => asked.name === name)
  }

  /** Something asked in this run is still open. */
  openIn(run: string): boolean {
    return [...this.#open.values()].some((asked) => asked.run === run)
  }
}
