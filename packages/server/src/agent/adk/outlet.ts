/**
 * Where a run's events gather on their way out: many writers (ADK's stream, specialists, nodes), one reader. Writers
 * never block in the middle of ADK's machinery; whoever can wait asks for `room`, so that a slow log slows the model.
 */
export interface Outlet<T> extends AsyncIterable<T> {
  push(value: T): void
  /** What was pushed is still read; later pushes are dropped. */
  end(error?: unknown): void
  room(): Promise<void>
}

export function outlet<T>(capacity = 256): Outlet<T> {
  const queue: T[] = []
  let over = false
  let failure: { readonly error: unknown } | undefined
  let wakeReader = (): void => {}
  let waiting: (() => void)[] = []
  const wakeWriters = (): void => {
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }
  return {
    push(value) {
      if (over) return
      queue.push(value)
      wakeReader()
    },
    end(error) {
      if (over) return
      over = true
      if (error !== undefined) failure = { error }
      wakeReader()
      wakeWriters()
    },
    async room() {
      while (!over && queue.length >= capacity) await new Promise<void>((resume) => waiting.push(resume))
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const batch = queue.splice(0)
        yield* batch
        if (queue.length > 0) continue
        wakeWriters()
        if (failure !== undefined) throw failure.error
        if (over) return
        await new Promise<void>((resume) => {
          wakeReader = resume
        })
      }
    },
  }
}
