/** What the process takes, and what it may take, in bytes. */
export interface MemoryUse {
  readonly used: number
  readonly most: number
}

/** Above the first part of it memory is short, until it falls below the second: else every other request would be refused. */
const [tight, relaxed] = [0.9, 0.85]
/** How often the memory is measured at most, in ms. */
const every = 100

/** Whether memory is short. It is measured when it is asked for, so that an idle server has no timer for it. */
export function memoryWatch(read: (() => MemoryUse) | undefined, now: () => number): () => boolean {
  let isShort = false
  let measured = Number.NEGATIVE_INFINITY
  return () => {
    const at = now()
    if (read === undefined || (at - measured < every && at >= measured)) return isShort
    measured = at
    const { used, most } = read()
    isShort = used > most * (isShort ? relaxed : tight)
    return isShort
  }
}
