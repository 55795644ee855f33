import { workerData } from 'node:worker_threads'
import type { Recorded } from '@millrace/core'
import { foldInThisThread, recordedIn } from '../../view/fold-worker.ts'
import { type AdkSessionOf, adkSession } from './session-json.ts'

// Makes an ADK session of a long log, in a thread of its own.

const { info, shared } = workerData as AdkSessionOf
const rows: Recorded[] = []
await foldInThisThread({
  push: (row) => void rows.push(recordedIn(row)),
  result: () => adkSession(info, rows, shared),
})
