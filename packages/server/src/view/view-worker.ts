import { workerData } from 'node:worker_threads'
import { factsFold, noFacts, type View, views } from '@millrace/core'
import { readFacts } from '@millrace/core/store'
import { foldInThisThread, type RowFold, recordedIn } from './fold-worker.ts'
import type { ThreadWork } from './view-thread.ts'

// Folds one view, or the state, in a thread of its own: rows come as stored text, the view goes back as JSON, in pieces.

await foldInThisThread(foldOf(workerData as ThreadWork))

function foldOf(work: ThreadWork): RowFold {
  if (work.view === 'facts') {
    const { seq, checkpoint } = work
    const before = checkpoint === undefined ? noFacts : readFacts(checkpoint)
    if (before === undefined) throw new Error('the checkpoint cannot be read')
    const facts = factsFold(before)
    return {
      push: (row) => {
        if (row.kind !== 'partial') facts.push(recordedIn(row))
      },
      result: () => ({ seq, state: facts.facts().state }),
    }
  }
  const view = views[work.view] as View<unknown>
  let state = view.initial
  return {
    push: (row) => {
      state = view.apply(state, recordedIn(row))
    },
    result: () => state,
  }
}
