import type { Recorded } from '@millrace/core'

/** The rows of a session as they are sent: all of them, or those after the row `after`, which the process has kept. */
export interface SentHistory {
  readonly after: number
  readonly rows: readonly Recorded[]
  /** Sessions whose rows the process no longer has to keep. */
  readonly forget: readonly string[]
}

interface Kept {
  readonly first: Recorded
  readonly last: Recorded
  readonly count: number
}

/** How many rows a process keeps for the next runs of their sessions. */
const keptRows = 100_000

/**
 * Decides which rows a process still needs. A session only grows, so the next run sends what is new: a turn on a long
 * session does not carry all of it again.
 */
export class HistorySender {
  readonly #limit: number
  readonly #kept = new Map<string, Kept>()
  #total = 0

  constructor(limit = keptRows) {
    this.#limit = limit
  }

  send(session: string, history: readonly Recorded[]): SentHistory {
    const kept = this.#kept.get(session)
    this.#drop(session)
    const forget: string[] = []
    const first = history[0]
    const last = history.at(-1)
    if (first !== undefined && last !== undefined && history.length <= this.#limit) {
      this.#total += history.length
      this.#kept.set(session, { first, last, count: history.length })
      for (const [oldest] of this.#kept) {
        if (this.#total <= this.#limit) break
        this.#drop(oldest)
        forget.push(oldest)
      }
    } else forget.push(session)
    if (kept === undefined || !beginsWith(history, kept)) return { after: 0, rows: history, forget }
    return { after: kept.last.seq, rows: history.slice(kept.count), forget }
  }

  #drop(session: string): void {
    this.#total -= this.#kept.get(session)?.count ?? 0
    this.#kept.delete(session)
  }
}

/** Whether the history begins with the rows that were sent: the session is no other one of that name, and lost no rows. */
function beginsWith(history: readonly Recorded[], { first, last, count }: Kept): boolean {
  return isRow(history[0], first) && isRow(history[count - 1], last)
}

function isRow(row: Recorded | undefined, other: Recorded): boolean {
  return row !== undefined && row.seq === other.seq && row.at === other.at && row.run === other.run
}

/** The other half, in the process. */
export class HistoryReceiver {
  readonly #kept = new Map<string, readonly Recorded[]>()

  receive(session: string, { after, rows, forget }: SentHistory): readonly Recorded[] {
    const history = after === 0 ? rows : [...(this.#kept.get(session) ?? []), ...rows]
    this.#kept.set(session, history)
    for (const one of forget) this.#kept.delete(one)
    return history
  }
}
