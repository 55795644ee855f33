import { workerData } from 'node:worker_threads'
import { type ReportAbout, reportFold } from '@millrace/core/report'
import { foldInThisThread, recordedIn } from '../../view/fold-worker.ts'

// Makes the report of a long session, in a thread of its own.

const report = reportFold(workerData as ReportAbout)
await foldInThisThread({ push: (row) => report.push(recordedIn(row)), result: () => report.html() })
