/**
 * Ids for the calls of wires that carry none. A reader numbers them itself: the n-th call of a name in a run is
 * `run:name#n`, and a result answers the oldest open call of its name. So both sides agree without a word, and an id
 * is printed only where a reader would come to another one (SPEC 3.4).
 */
export interface CallIds {
  call(name: string, id: string | undefined): CallId
  result(name: string, id: string | undefined): CallId
}

export interface CallId {
  readonly id: string
  /** A reader of a wire without ids comes to the same id. */
  readonly implied: boolean
}

export function callIds(run: string): CallIds {
  const made = new Map<string, number>()
  const open = new Map<string, CallId[]>()
  return {
    call(name, id) {
      const count = (made.get(name) ?? 0) + 1
      made.set(name, count)
      const implied = `${run}:${name}#${count}`
      const call = { id: id ?? implied, implied: id === undefined || id === implied }
      const waiting = open.get(name)
      if (waiting === undefined) open.set(name, [call])
      else waiting.push(call)
      return call
    },
    result(name, id) {
      const waiting = open.get(name) ?? []
      // Calls are numbered from 1, so that a result without a call never meets a later call's id.
      const oldest = waiting[0] ?? { id: `${run}:${name}#0`, implied: true }
      const at = id === undefined ? 0 : waiting.findIndex((call) => call.id === id)
      if (at >= 0) waiting.splice(at, 1)
      return id === undefined || id === oldest.id ? oldest : { id, implied: false }
    },
  }
}
