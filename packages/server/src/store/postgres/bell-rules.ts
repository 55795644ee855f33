/** The rules of the doorbell, without a clock and without a database. `bench/simulate.ts` runs them with many replicas. */

/** Between two looks at the database: from the first, doubling, to the last; in ms. */
const quickest = 25
const slowest = 1000
/** The same while notifications arrive, to find the ones that were lost. */
const whileListening = 5000
/** From one notification of a replica to its next one, in ms: a reader of a fast stream waits so much longer. */
export const betweenNotifications = 5
/** PostgreSQL takes 8,000 bytes. */
const longestPayload = 7500

/** How long to wait until the next look: short while something happens. */
export class LookPace {
  #wait = quickest

  pause(isListening: boolean): number {
    return isListening ? whileListening : this.#wait
  }

  quicken(): void {
    this.#wait = quickest
  }

  slow(): void {
    this.#wait = Math.min(slowest, this.#wait * 2)
  }
}

/** What a look found: sessions that are gone, and those that have more than was seen here. */
export function lookedAt(
  seen: ReadonlyMap<string, number>,
  found: ReadonlyMap<string, number>,
): { readonly removed: readonly string[]; readonly behind: readonly (readonly [string, number])[] } {
  const removed: string[] = []
  const behind: (readonly [string, number])[] = []
  for (const [id, last] of seen) {
    const seq = found.get(id)
    if (seq === undefined) removed.push(id)
    else if (seq > last) behind.push([id, seq])
  }
  return { removed, behind }
}

/**
 * The text of the next notification: the replica, and as many of the changed sessions as fit, which leave the set.
 * Undefined for a name that is too long for a notification: it is found by looking.
 */
export function nextPayload(replica: string, changed: Set<string>): string | undefined {
  const sessions: string[] = []
  let size = replica.length + 10
  for (const session of changed) {
    size += JSON.stringify(session).length * 3 + 1
    if (sessions.length > 0 && size > longestPayload) break
    sessions.push(session)
    changed.delete(session)
  }
  const payload = JSON.stringify([replica, ...sessions])
  // UTF-8 takes at most three bytes for each unit of a string.
  if (payload.length * 3 <= longestPayload) return payload
  return new TextEncoder().encode(payload).length > longestPayload ? undefined : payload
}

/** The names in a notification. Any program that may use the database may notify, so the text may be anything. */
export function notifiedNames(payload: string | undefined): readonly string[] {
  try {
    const names: unknown = JSON.parse(payload ?? '')
    return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : []
  } catch {
    return []
  }
}
