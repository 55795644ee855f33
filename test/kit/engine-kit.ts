import { defined, type EventLog, memoryLog, type Recorded, type RunEvent, type RunInput } from '@millrace/core'
import {
  type Agent,
  type AuditEntry,
  type RunContext,
  type RunEngine,
  type RunLimits,
  runEngine,
} from '@millrace/server'
import { expect } from 'vitest'
import type { RecordSeal } from '../../packages/server/src/agent/record-seal.ts'
import { scriptedAgent } from './scripted-agent.ts'

export type Script = (input: RunInput, context: RunContext) => AsyncIterable<unknown>

/** A scripted agent whose events only the engine checks: they may be anything. */
export function scripted(name: string, script: Script, resumable = false): Agent {
  return scriptedAgent(name, (input, context) => script(input, context) as AsyncIterable<RunEvent>, { resumable })
}

export const nothing: RunInput = { messages: [] }

/** One token of a message. */
export function delta(message: string, text: string): RunEvent {
  return said(message, text, { partial: true })
}
export function said(message: string, text: string, more: object = {}): RunEvent {
  const event = { id: `${message}-${text}`, author: 'a', invocationId: 'i', timestamp: 1, ...more }
  return { kind: 'agent', message, event: { ...event, content: { role: 'model', parts: [{ text }] } } }
}
export const note = (message: string): RunEvent => ({ kind: 'log', level: 'info', message })

export interface Bench {
  readonly log: EventLog
  readonly engine: RunEngine
  readonly audit: AuditEntry[]
  /** Starts a run of `agent` in the session, made if need be. */
  start(agent: string, more?: Partial<Parameters<RunEngine['start']>[0]>): ReturnType<RunEngine['start']>
  rows(session?: string): Promise<readonly Recorded[]>
  /** The kinds of one run's rows, in order. */
  kinds(run: string, session?: string): Promise<readonly string[]>
  clock: { now: number }
}

export interface BenchOptions {
  readonly log?: EventLog
  readonly limits?: Partial<RunLimits>
  readonly owner?: string
  readonly clock?: { now: number }
  readonly seal?: RecordSeal
  /** The ids of an engine that goes on with another one's log must be others. */
  readonly ids?: string
}

export function bench(agents: readonly Agent[], options: BenchOptions = {}): Bench {
  const clock = options.clock ?? { now: 1_000 }
  const log = options.log ?? memoryLog(() => clock.now)
  const audit: AuditEntry[] = []
  let ids = 0
  const engine = runEngine({
    log,
    agents: (name) => agents.find((agent) => agent.name === name),
    now: () => clock.now,
    newId: () => `${options.ids ?? 'id'}${++ids}`,
    owner: options.owner ?? 'me',
    limits: { abortGrace: 20, ...options.limits },
    ...defined({ seal: options.seal }),
    onAudit: (entry) => audit.push(entry),
  })
  const rows = (session = 's'): Promise<readonly Recorded[]> => log.read(session, { after: 0 })
  return {
    log,
    engine,
    audit,
    clock,
    rows,
    async start(agent, { session = 's', user = 'u', input = nothing, ...more } = {}) {
      if ((await log.get(session)) === undefined) await log.create({ id: session, user, agent })
      return engine.start({ session, user, agent, input, ...more })
    },
    kinds: async (run, session) =>
      (await rows(session)).filter((row) => row.run === run).map(({ event }) => event.kind),
  }
}

/** The run's last row, which is its only terminal one. */
export async function ending(bench: Bench, run: string, session = 's'): Promise<RunEvent> {
  const rows = (await bench.rows(session)).filter((row) => row.run === run)
  expect(rows.filter(({ event }) => event.kind === 'run.finished')).toHaveLength(1)
  const last = rows.at(-1)?.event
  expect(last?.kind).toBe('run.finished')
  return last as RunEvent
}
