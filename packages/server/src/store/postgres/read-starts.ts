/**
 * The reads that have begun and do not know their session yet. A removal waits for them: a read that began before it gets
 * the rows that there were, or `not-found`, and never those of a later session with the same id.
 */
export interface ReadStarts {
  add<T>(id: string, start: Promise<T>): Promise<T>
  settled(id: string): Promise<void>
}

export function readStarts(): ReadStarts {
  const starts = new Map<string, Set<Promise<unknown>>>()
  return {
    add: (id, start) => {
      const known = starts.get(id) ?? new Set()
      starts.set(id, known)
      const done = start
        .catch(() => undefined)
        .then(() => {
          known.delete(done)
          if (known.size === 0 && starts.get(id) === known) starts.delete(id)
        })
      known.add(done)
      return start
    },
    settled: async (id) => void (await Promise.all(starts.get(id) ?? [])),
  }
}
