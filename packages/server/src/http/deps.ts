import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Agent } from '../agent/agent.ts'
import type { EvalStore } from '../eval/eval-store.ts'
import { defaultImportThreadLimits, type ImportThreadLimits } from '../recording/import-thread.ts'
import type { RecordingReads } from '../recording/recording-reads.ts'
import type { AuditEntry } from '../telemetry/audit.ts'
import { defaultViewLimits, type ViewLimits } from '../view/view-reads.ts'
import type { OwnSessions } from './own-sessions.ts'
import { defaultShares, type Shares } from './shares.ts'

/** What every surface works with: one log, one run engine, one set of streams and the same agents. */
export interface HttpDeps {
  /** Log, runs and streams as far as the request may reach them. There is no other way to a session. */
  readonly own: (request: FastifyRequest) => OwnSessions
  readonly agents: AgentDirectory
  readonly now: () => number
  readonly newId: () => string
  readonly limits: HttpLimits
  /** What a closed connection does to the run that it started, where the request does not say. */
  readonly disconnect: Readonly<Record<StartingSurface, OnDisconnect>>
  /** Records what the engine cannot know of, such as a deleted session. */
  readonly audit: (entry: AuditEntry) => void
  /** Reads what is imported. */
  readonly recordings: RecordingReads
  /** Evaluation sets and their results. */
  readonly evals: EvalStore
  /** Called when a stream was opened. */
  readonly opened: (request: FastifyRequest, reply: FastifyReply) => void
}

/** The agents that can be run, by the name they have on every surface. */
export interface AgentDirectory {
  readonly names: readonly string[]
  get(name: string): Agent | undefined
  /** The agent of `POST /` and of a session that names none. */
  readonly fallback: string
}

export interface HttpLimits extends ViewLimits, ImportThreadLimits {
  /** Bytes of a request body. */
  readonly body: number
  /** Bytes of an imported session. */
  readonly importBody: number
  readonly messages: number
  readonly tools: number
  /** Bytes of client state, as JSON. */
  readonly state: number
  /** What users may have at once, per minute and in the log. */
  readonly shares: Shares
}

/** `cancel`: the run ends with the connection. `continue`: it goes on without a reader (SPEC 4.2). */
export type OnDisconnect = 'cancel' | 'continue'

/** The surfaces whose requests start a run and stream it. */
export type StartingSurface = 'ag-ui' | 'adk' | 'studio' | 'plan'

/** adk-web's Stop button closes its connection, and so does its own server's idea of the end of a run. */
export const defaultDisconnect: Readonly<Record<StartingSurface, OnDisconnect>> = {
  'ag-ui': 'continue',
  adk: 'cancel',
  studio: 'continue',
  plan: 'continue',
}

export const defaultLimits: HttpLimits = {
  ...defaultViewLimits,
  ...defaultImportThreadLimits,
  body: 1024 * 1024,
  importBody: 64 * 1024 * 1024,
  messages: 1000,
  tools: 200,
  state: 256 * 1024,
  shares: defaultShares,
}
