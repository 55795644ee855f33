import { workerData } from 'node:worker_threads'
import { readInThisThread } from '../../recording/read-in-this-thread.ts'
import { parseJsonBody } from '../doors/json-body.ts'
import { readSession, type SessionImport } from './session-import.ts'

// Reads a long ADK session in a thread of its own.

await readInThisThread(async (text) => readSession(parseJsonBody(text), workerData as SessionImport), true)
