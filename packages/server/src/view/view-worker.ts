import { once } from 'node:events'
import { platform, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { type RawRecorded, type RunEvent, type View, type ViewName, views } from '@millrace/core'
import { jsonPieces } from './json-pieces.ts'
import type { FromThread, ToThread } from './view-thread.ts'

// Folds one view in a thread of its own: rows come as stored text, the view goes back as JSON, in pieces.

// On Linux this is the priority of this thread, so that the thread that answers everyone comes first.
if (platform() === 'linux') setPriority(10)

const port = parentPort
if (port === null) throw new Error('this file is the entry of a thread; start it with foldInThread')

async function ask(message: FromThread): Promise<ToThread> {
  const answer = port === null ? [] : once(port, 'message')
  port?.postMessage(message)
  return (await answer)[0]
}

const { view: name } = workerData as { readonly view: ViewName }
const view = views[name] as View<unknown>
let state = view.initial
for (let { rows } = await ask({ kind: 'rows' }); rows !== undefined; { rows } = await ask({ kind: 'rows' }))
  for (const row of rows) state = view.apply(state, recorded(row))
for (const piece of jsonPieces(state)) await ask({ kind: 'piece', piece })
port.postMessage({ kind: 'done' } satisfies FromThread)
port.close()

function recorded({ seq, at, run, body }: RawRecorded) {
  const event: RunEvent = JSON.parse(body)
  return { seq, at, run, event }
}
