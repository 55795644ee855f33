import type { RawRecorded, Recorded, RunEvent } from '@millrace/core'
import { asking } from '../thread/asking.ts'
import { jsonPieces } from './json-pieces.ts'
import type { FromThread, ToThread } from './view-thread.ts'

/** What a thread makes of the rows of a session. */
export interface RowFold {
  push(row: RawRecorded): void
  /** Called after the last row. */
  result(): unknown
}

/** Inside a thread: rows come as stored text, the result goes back as JSON, in pieces. */
export async function foldInThisThread(fold: RowFold): Promise<void> {
  const { ask, end } = asking<FromThread, ToThread>()
  for (let { rows } = await ask({ kind: 'rows' }); rows !== undefined; { rows } = await ask({ kind: 'rows' }))
    for (const row of rows) fold.push(row)
  for (const piece of jsonPieces(fold.result())) await ask({ kind: 'piece', piece })
  end({ kind: 'done' })
}

export function recordedIn({ seq, at, run, body }: RawRecorded): Recorded {
  const event: RunEvent = JSON.parse(body)
  return { seq, at, run, event }
}
