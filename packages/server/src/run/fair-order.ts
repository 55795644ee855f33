import type { HeldLease } from '@millrace/core'

interface User {
  running: number
  /** When the user had a turn last; a higher number is later. */
  turn: number
  readonly runs: HeldLease[]
}

/**
 * Whose turn it is: the next run is one of the user with the fewest runs; of users with as many, the one who has waited
 * longest for a turn. A user's own runs keep their order. Users with as many runs as they may have are left out.
 */
export function fairOrder(
  waiting: readonly HeldLease[],
  perUser: number,
  turns: ReadonlyMap<string, number> = new Map(),
): readonly HeldLease[] {
  const users = new Map<string, User>()
  for (const lease of waiting) {
    // Those that wait are among the leases of their user.
    const known = users.get(lease.user) ?? { running: lease.leased, turn: turns.get(lease.user) ?? 0, runs: [] }
    known.running -= 1
    known.runs.push(lease)
    users.set(lease.user, known)
  }
  const order: HeldLease[] = []
  let turn = Math.max(0, ...turns.values())
  for (;;) {
    let next: User | undefined
    for (const user of users.values()) {
      if (user.runs.length > 0 && user.running < perUser && (next === undefined || isBefore(user, next))) next = user
    }
    const lease = next?.runs.shift()
    if (next === undefined || lease === undefined) return order
    next.running += 1
    next.turn = ++turn
    order.push(lease)
  }
}

function isBefore(a: User, b: User): boolean {
  if (a.running !== b.running) return a.running < b.running
  if (a.turn !== b.turn) return a.turn < b.turn
  return (a.runs[0]?.until ?? 0) < (b.runs[0]?.until ?? 0)
}
