/** Runs the work on one session one after the other; sessions do not wait for each other. */
export class SessionTurns {
  readonly #last = new Map<string, Promise<unknown>>()

  take<T>(session: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(session) ?? Promise.resolve()
    const mine = before.then(work)
    const settled = mine.then(
      () => {},
      () => {},
    )
    this.#last.set(session, settled)
    void settled.then(() => {
      if (this.#last.get(session) === settled) this.#last.delete(session)
    })
    return mine
  }

  /** Resolves when all work that was taken until now is done. */
  async idle(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}
