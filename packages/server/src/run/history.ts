import type { EventLog, Recorded, SessionInfo } from '@millrace/core'

interface Kept {
  readonly createdAt: number
  /** The rows up to this seq were read. */
  readonly seq: number
  readonly rows: readonly Recorded[]
}

/** Rows that stay in memory for all sessions together. */
const maxRows = 20_000

/**
 * The rows that agents are given, without partials of whole messages in ended runs, which no agent needs (SPEC 5.3). The
 * sessions of the last runs stay in memory, so that the next turn of a long conversation reads only what is new.
 */
export class SessionHistories {
  readonly #log: EventLog
  /** The session used last comes last. */
  readonly #kept = new Map<string, Kept>()
  #total = 0

  constructor(log: EventLog) {
    this.#log = log
  }

  /** The rows of the session up to `seq`. */
  async upTo({ id, createdAt }: SessionInfo, seq: number): Promise<readonly Recorded[]> {
    if (seq === 0) return []
    const known = this.#kept.get(id)
    const isSame = known?.createdAt === createdAt && known.seq <= seq
    const before = isSame ? known : { rows: [], seq: 0 }
    if (before.seq === seq) return before.rows
    const more = await this.#log.read(id, { after: before.seq, brief: true })
    const rows = [...before.rows, ...((more.at(-1)?.seq ?? 0) > seq ? more.filter((row) => row.seq <= seq) : more)]
    this.#keep(id, { createdAt, seq, rows })
    return rows
  }

  #keep(id: string, kept: Kept): void {
    this.#drop(id)
    if (kept.rows.length > maxRows) return
    this.#kept.set(id, kept)
    this.#total += kept.rows.length
    for (const oldest of this.#kept.keys()) {
      if (this.#total <= maxRows) break
      this.#drop(oldest)
    }
  }

  #drop(id: string): void {
    this.#total -= this.#kept.get(id)?.rows.length ?? 0
    this.#kept.delete(id)
  }
}
