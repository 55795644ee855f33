import { adk, millrace } from '@millrace/core'
import { runEngine } from '../../packages/server/src/run/engine.ts'
import type { RunEngine } from '../../packages/server/src/run/run-engine.ts'
import { type SqliteLog, sqliteLog } from '../../packages/server/src/store/sqlite/log.ts'
import { streams } from '../../packages/server/src/stream/streams.ts'
import { steppingAgent } from './stepping-agent.ts'

/**
 * The whole system over one folder, as a process has it after a start: under the same name each time. Heartbeats come so
 * often that no reader is without them, however fast the machine is; a reader that is slow keeps its connection.
 */
export async function openSystem(folder: string, pace: number) {
  const log: SqliteLog = await sqliteLog({ folder, now: Date.now })
  const agents = [
    steppingAgent('once', { steps: 12, pace, resumable: false }),
    steppingAgent('again', { steps: 12, pace, resumable: true }),
  ]
  const engine: RunEngine = runEngine({
    log,
    agents: (name) => agents.find((agent) => agent.name === name),
    now: Date.now,
    newId: () => crypto.randomUUID(),
    owner: 'crash test',
    limits: { abortGrace: 10, resumes: 100 },
  })
  return { log, engine, streams: streams({ log, dialects: [adk, millrace], heartbeat: 50, patience: Infinity }) }
}

export const sessions = 20
export const agentOf = (session: number): string => (session % 2 === 0 ? 'once' : 'again')
