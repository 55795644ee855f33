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

/** The calls of one name. */
interface NamedCalls {
  made: number
  readonly open: OpenList<CallId>
  readonly openById: Map<string, OpenList<CallId>>
}

export function callIds(run: string): CallIds {
  const named = new Map<string, NamedCalls>()
  const callsOf = (name: string): NamedCalls => {
    const known = named.get(name)
    if (known !== undefined) return known
    const calls = { made: 0, open: new OpenList<CallId>(), openById: new Map() }
    named.set(name, calls)
    return calls
  }
  return {
    call(name, id) {
      const calls = callsOf(name)
      calls.made += 1
      const implied = `${run}:${name}#${calls.made}`
      const call = { id: id ?? implied, implied: id === undefined || id === implied }
      calls.open.open(call)
      const alike = calls.openById.get(call.id) ?? new OpenList()
      calls.openById.set(call.id, alike)
      alike.open(call)
      return call
    },
    result(name, id) {
      const calls = named.get(name)
      // Calls are numbered from 1, so the id of a result without a call (#0) is never that of a later call.
      const waiting = calls?.open.first
      const oldest = waiting ?? { id: `${run}:${name}#0`, implied: true }
      const answered = id === undefined ? waiting : calls?.openById.get(id)?.first
      if (calls !== undefined && answered !== undefined) {
        calls.open.close(answered)
        const alike = calls.openById.get(answered.id)
        alike?.close(answered)
        if (alike?.size === 0) calls.openById.delete(answered.id)
      }
      return id === undefined || id === oldest.id ? oldest : { id, implied: false }
    },
  }
}
