import { workerData } from 'node:worker_threads'
import { readInThisThread } from './read-in-this-thread.ts'
import { type ImportWork, readRecordingText } from './read-recording.ts'

// Reads one recording in a thread of its own.

await readInThisThread((text) => readRecordingText(text, workerData as ImportWork))
