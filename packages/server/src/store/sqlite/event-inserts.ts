import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Statement, WriteConnection } from './connection.ts'

/**
 * The event rows of a transaction, gathered until its COMMIT. A lone run inserts them on this thread with a prepared
 * statement. When many runs write at once, the rows become one SQL text that libsql's thread runs together with the
 * COMMIT, so that this thread can go on with the agents and the readers.
 *
 * Measured with 400 rows of 50 sessions to a commit, in µs of CPU for each row: as one text 9.6 to 11.8, of them 1.7 to
 * 2.2 on this thread; by the prepared statement 8.8 to 9.4, of them 5.4 to 6 on this thread, which is the busy one.
 */
export interface EventInserts {
  add(row: EventValues): void
  /** Inserts what was gathered, on this thread. */
  insertHere(): void
  /** The same, with pauses in which other work gets a turn. */
  insertInTurns(): Promise<void>
  /** Returns what was gathered as SQL, and forgets it. Empty when there is nothing. */
  takeSql(): string
  /** Whether so much was gathered that it should be inserted before more comes: it is held in memory. */
  readonly isMuch: boolean
  /** Forgets what was gathered: the transaction was rolled back. */
  clear(): void
}

/** session, seq, at, run, mark, body */
export type EventValues = readonly [number, number, number, string, number, string]

/** UTF-16 units. As one SQL text they are copied twice. */
const much = 2 * 1024 * 1024

/** Inserting this many rows takes about 2 ms. */
const rowsPerTurn = 200

const into = 'INSERT INTO event (session, seq, at, run, mark, body) VALUES'

export async function eventInserts(writer: WriteConnection): Promise<EventInserts> {
  const insert: Statement = await writer.prepare(`${into} (?, ?, ?, ?, ?, ?)`)
  let rows: EventValues[] = []
  let text = 0
  const take = (): readonly EventValues[] => {
    const taken = rows
    rows = []
    text = 0
    return taken
  }
  return {
    add: (row) => {
      rows.push(row)
      text += row[5].length
    },
    get isMuch() {
      return text > much
    },
    insertHere: () => {
      for (const row of take()) insert.run(row)
    },
    insertInTurns: async () => {
      for (const [i, row] of take().entries()) {
        insert.run(row)
        if (i % rowsPerTurn === rowsPerTurn - 1) await nextTurn()
      }
    },
    takeSql: () => {
      const taken = take()
      return taken.length === 0 ? '' : sqlOf(taken)
    },
    clear: () => void take(),
  }
}

/** Rows that follow each other are mostly of one run and one time, so what they share is printed once. */
function sqlOf(rows: readonly EventValues[]): string {
  let sql = ''
  let last: EventValues | undefined
  let start = ''
  let middle = ''
  for (const row of rows) {
    const [session, seq, at, run, mark, body] = row
    if (last === undefined || last[0] !== session || last[2] !== at || last[3] !== run || last[4] !== mark) {
      start = `(${session},`
      middle = `,${at},'${quotable(run)}',${mark},'`
    }
    sql += `${last === undefined ? `${into} ` : ','}${start}${seq}${middle}${quotable(body)}')`
    last = row
  }
  return `${sql};`
}

/** SQL text has one special character, the quote. U+0000 would end the text: such a group fails, and its jobs run one by one with bound values. */
function quotable(text: string): string {
  return text.includes("'") ? text.replaceAll("'", "''") : text
}
