/** The requests of recent model calls. They are kept in memory only, and the oldest make room for the newest. */
export interface ModelRequests {
  put(session: string, event: string, request: string): void
  /** The request that this event answers, as JSON text; undefined when it is no longer kept. */
  of(session: string, event: string): string | undefined
  /** Forgets the requests of a session. */
  forget(session: string): void
}

/** `room` is how many characters of requests are kept in all. A request is kept only if it leaves room for others. */
export function modelRequests(room = 16 * 1024 * 1024): ModelRequests {
  const kept = new Map<string, string>()
  let size = 0
  const keyOf = (session: string, event: string): string => JSON.stringify([session, event])
  const drop = (key: string): void => {
    size -= kept.get(key)?.length ?? 0
    kept.delete(key)
  }
  return {
    put(session, event, request) {
      if (request.length > room / 8) return
      const key = keyOf(session, event)
      drop(key)
      kept.set(key, request)
      size += request.length
      for (const oldest of kept.keys()) {
        if (size <= room) break
        drop(oldest)
      }
    },
    of: (session, event) => kept.get(keyOf(session, event)),
    forget(session) {
      const prefix = `${JSON.stringify([session]).slice(0, -1)},`
      for (const key of [...kept.keys()]) if (key.startsWith(prefix)) drop(key)
    },
  }
}
