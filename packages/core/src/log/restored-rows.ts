import type { Outcome, RawRecorded, Recorded } from '../event/run-event.ts'
import { factsFold, noFacts } from '../event/session-facts.ts'
import { checkpointBlock, checkpointText, isCheckpointDue } from './checkpoint-rule.ts'
import { rowKindOf } from './retention.ts'
import { eventText } from './session-info.ts'
import { wasCutOff } from './session-status.ts'

/** A row as a store keeps it, with what the store would else have to parse it for. */
export interface RestoredRow extends RawRecorded {
  /** Of a `run.finished`. */
  readonly outcome?: Outcome
  /** Of a `run.finished` that nobody saw. */
  readonly cutOff?: true
  /** Of a row of the kind `partial` or `whole`. */
  readonly message?: string
}

/** Some rows of a history. It is cut so that storing one page holds up other work for a few milliseconds only. */
export interface RestoredPage {
  readonly rows: readonly RestoredRow[]
  /** The text of what the rows up to this seq add up to (`printFacts`), where that is short beside them. */
  readonly checkpoint?: { readonly seq: number; readonly text: string }
}

export interface RestoredPages {
  /** Takes the next row, and returns a page when one is full. */
  push(row: Recorded): RestoredPage | undefined
  /** The last page. */
  end(): RestoredPage
}

/** A page has so many rows, or characters, at most; one row may be longer. */
const pageRows = 256
const pageText = 128 * 1024
/** Prints a history as the pages that a store takes. It holds one page, and what the rows add up to. */
export function restoredPages(): RestoredPages {
  const fold = factsFold(noFacts)
  let rows: RestoredRow[] = []
  let text = 0
  let count = 0
  let lastSeq = 0
  let lastCheckpoint = 0

  const checkpoint = (): RestoredPage['checkpoint'] => {
    const printed = isCheckpointDue(lastSeq, lastCheckpoint) ? checkpointText(fold.facts(), lastCheckpoint) : undefined
    if (printed === undefined) return undefined
    lastCheckpoint = lastSeq
    return { seq: lastSeq, text: printed }
  }
  const cut = (isDue: boolean): RestoredPage => {
    const made = isDue ? checkpoint() : undefined
    const page = made === undefined ? { rows } : { rows, checkpoint: made }
    rows = []
    text = 0
    return page
  }
  return {
    push: (recorded) => {
      const row = restoredRow(recorded)
      fold.push(recorded)
      rows.push(row)
      text += row.body.length
      count += 1
      lastSeq = row.seq
      const isDue = count % checkpointBlock === 0
      return isDue || rows.length >= pageRows || text >= pageText ? cut(isDue) : undefined
    },
    end: () => cut(true),
  }
}

/** A history that is in memory, as pages; `pause` is awaited between two of them. */
export async function* pagesOfHistory(
  history: readonly Recorded[],
  pause?: () => Promise<void>,
): AsyncGenerator<RestoredPage, void> {
  const pages = restoredPages()
  for (const row of history) {
    const page = pages.push(row)
    if (page === undefined) continue
    yield page
    await pause?.()
  }
  yield pages.end()
}

function restoredRow({ seq, at, run, event }: Recorded): RestoredRow {
  const row = { seq, at, run, kind: rowKindOf(event), body: eventText(event) }
  if (event.kind === 'run.finished')
    return { ...row, outcome: event.outcome, ...(wasCutOff(event) ? { cutOff: true } : {}) }
  return event.kind === 'agent' && (row.kind === 'partial' || row.kind === 'whole')
    ? { ...row, message: event.message }
    : row
}
