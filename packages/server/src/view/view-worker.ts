import { workerData } from 'node:worker_threads'
import { factsFold, noFacts, type RawRecorded, type Recorded, type RunEvent, type View, views } from '@millrace/core'
import { readFacts } from '@millrace/core/store'
import { asking } from '../thread/asking.ts'
import { jsonPieces } from './json-pieces.ts'
import type { FromThread, ThreadWork, ToThread } from './view-thread.ts'

// Folds one view, or the state, in a thread of its own: rows come as stored text, the view goes back as JSON, in pieces.

const { ask, end } = asking<FromThread, ToThread>()
const fold = foldOf(workerData as ThreadWork)
for (let { rows } = await ask({ kind: 'rows' }); rows !== undefined; { rows } = await ask({ kind: 'rows' }))
  for (const row of rows) fold.push(row)
for (const piece of jsonPieces(fold.result())) await ask({ kind: 'piece', piece })
end({ kind: 'done' })

function foldOf(work: ThreadWork): { push(row: RawRecorded): void; result(): unknown } {
  if (work.view === 'facts') {
    const { seq, checkpoint } = work
    const before = checkpoint === undefined ? noFacts : readFacts(checkpoint)
    if (before === undefined) throw new Error('the checkpoint cannot be read')
    const facts = factsFold(before)
    return {
      push: (row) => {
        if (row.kind !== 'partial') facts.push(recorded(row))
      },
      result: () => ({ seq, state: facts.facts().state }),
    }
  }
  const view = views[work.view] as View<unknown>
  let state = view.initial
  return {
    push: (row) => {
      state = view.apply(state, recorded(row))
    },
    result: () => state,
  }
}

function recorded({ seq, at, run, body }: RawRecorded): Recorded {
  const event: RunEvent = JSON.parse(body)
  return { seq, at, run, event }
}
