import { OpenList } from './open-list.ts'

/**
 * Ids for the calls of wires that carry none. A reader numbers them itself: the n-th call of a name in a run is
 * `run:name#n`, and a result answers the oldest open call of its name. The encoder counts in the same way, and prints
 * an id only where a reader would derive another one (SPEC 3.4).
 */
export interface CallIds {
  call(name: string, id: string | undefined): CallId
  result(name: string, id: string | undefined): CallId
}

export interface CallId {
  readonly id: string
  /** A reader of a wire without ids derives the same id. */
  readonly implied: boolean
}

export function callIds(run: string): CallIds {
  const made = new Map<string, number>()
  /** Open calls, under their name, and under their name and id. */
  const open = new Map<string, OpenList<CallId>>()
  const keysOf = (name: string, id: string): readonly string[] => [`\n${name}`, `${name}\n${id}`]
  return {
    call(name, id) {
      const count = (made.get(name) ?? 0) + 1
      made.set(name, count)
      const implied = `${run}:${name}#${count}`
      const call = { id: id ?? implied, implied: id === undefined || id === implied }
      for (const key of keysOf(name, call.id)) {
        const waiting = open.get(key) ?? new OpenList()
        open.set(key, waiting)
        waiting.open(call)
      }
      return call
    },
    result(name, id) {
      // Calls are numbered from 1, so the id of a result without a call (#0) is never that of a later call.
      const waiting = open.get(`\n${name}`)?.first
      const oldest = waiting ?? { id: `${run}:${name}#0`, implied: true }
      const answered = id === undefined ? waiting : open.get(`${name}\n${id}`)?.first
      if (answered !== undefined) {
        for (const key of keysOf(name, answered.id)) {
          const alike = open.get(key)
          alike?.close(answered)
          if (alike?.size === 0) open.delete(key)
        }
      }
      return id === undefined || id === oldest.id ? oldest : { id, implied: false }
    },
  }
}
