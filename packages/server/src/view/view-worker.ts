import { once } from 'node:events'
import { platform, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { factsFold, noFacts, type RawRecorded, type Recorded, type RunEvent, type View, views } from '@millrace/core'
import { readFacts } from '@millrace/core/store'
import { jsonPieces } from './json-pieces.ts'
import type { FromThread, ThreadWork, ToThread } from './view-thread.ts'

// Folds one view, or the state, in a thread of its own: rows come as stored text, the view goes back as JSON, in pieces.

// On Linux this is the priority of this thread, so that the thread that answers everyone comes first.
if (platform() === 'linux') setPriority(10)

const port = parentPort
if (port === null) throw new Error('this file is the entry of a thread; start it with foldInThread')

async function ask(message: FromThread): Promise<ToThread> {
  const answer = port === null ? [] : once(port, 'message')
  port?.postMessage(message)
  return (await answer)[0]
}

const fold = foldOf(workerData as ThreadWork)
for (let { rows } = await ask({ kind: 'rows' }); rows !== undefined; { rows } = await ask({ kind: 'rows' }))
  for (const row of rows) fold.push(row)
for (const piece of jsonPieces(fold.result())) await ask({ kind: 'piece', piece })
port.postMessage({ kind: 'done' } satisfies FromThread)
port.close()

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
