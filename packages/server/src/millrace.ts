import { randomBytes } from 'node:crypto'
import { type Dialect, defined, type EventLog, dialects as known, type ModelPrices } from '@millrace/core'
import { idInKey } from '@millrace/core/store'
import type { Context, Tracer } from '@opentelemetry/api'
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions } from 'fastify'
import type { CallRecording } from './agent/call-recorder.ts'
import type { AgentCatalog } from './agent/catalog.ts'
import { recordSeal } from './agent/record-seal.ts'
import { withoutInstructions } from './agent/shown-description.ts'
import { type EvalStore, memoryEvalStore } from './eval/eval-store.ts'
import { adkEveryAuthor, adkWithoutPartials } from './http/adk/adk-without-partials.ts'
import { agUiProtobufFormat } from './http/ag-ui/protobuf.ts'
import { createApp } from './http/app.ts'
import {
  type AgentDirectory,
  defaultDisconnect,
  defaultLimits,
  type HttpLimits,
  type OnDisconnect,
  type StartingSurface,
} from './http/deps.ts'
import type { Access } from './http/doors/access.ts'
import { needsProof } from './http/doors/identity.ts'
import type { MemoryUse } from './http/memory-watch.ts'
import { withoutCheckpoints } from './http/session/without-checkpoints.ts'
import { type Shares, type SomeShares, sharesWith } from './http/shares.ts'
import { runEngine } from './run/engine.ts'
import type { RunLimits } from './run/limits.ts'
import type { RunEngine } from './run/run-engine.ts'
import { sseFormat } from './stream/stream-format.ts'
import { type Streams, type StreamsOptions, streams } from './stream/streams.ts'
import type { AuditEntry } from './telemetry/audit.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { viewReads } from './view/view-reads.ts'

export interface MillraceOptions {
  readonly log: EventLog
  readonly agents: Pick<AgentCatalog, 'agents'> & Partial<Pick<AgentCatalog, 'refresh'>>
  readonly now: () => number
  readonly newId: () => string
  /** The name under which this server holds leases; see RunEngineOptions. */
  readonly owner: string
  readonly version: string
  /** The agent of requests that name none; absent: the first. */
  readonly fallback?: string
  /** The folder of the built web page. */
  readonly page?: string
  /** The folder of adk-web's built page (`dist/browser` of `@google/adk-devtools`), served at `/dev-ui/`. */
  readonly adkWeb?: string
  readonly access?: Access
  /** Keeps evaluation sets and results; absent: as long as the process runs. */
  readonly evals?: EvalStore
  /** The path prefix, such as `/millrace`, that a proxy forwards without removing it. */
  readonly basePath?: string
  readonly limits?: Partial<Omit<HttpLimits, 'shares'>> & { readonly shares?: SomeShares }
  /** Reads what the process takes: new work is refused before it takes all that it may. Absent: it never is. */
  readonly memory?: () => MemoryUse
  /** What a closed connection does to the run that it started, by surface: `cancel` or `continue`. */
  readonly disconnect?: Readonly<Partial<Record<StartingSurface, OnDisconnect | undefined>>>
  readonly runLimits?: Partial<RunLimits>
  readonly heartbeat?: number
  /** How many printed bytes are kept for readers that come back; see StreamsOptions. */
  readonly retain?: Pick<StreamsOptions, 'retain' | 'retainTotal'>
  readonly logger?: FastifyServerOptions['logger']
  readonly onAudit?: (entry: AuditEntry) => void
  /**
   * Whether the log has what models were told, by agent. Absent: on where anyone may read all sessions, off where users
   * must prove who they are, because a user's log would then show the agents' instructions to the user.
   */
  readonly recordPrompts?: (agent: string) => boolean | undefined
  /** What models cost; absent: the log has no costs. */
  readonly prices?: ModelPrices
  /** Makes spans of every run; absent: no spans. */
  readonly tracing?: { readonly tracer: Tracer; readonly root: Context }
}

/** A whole Millrace over one log: run engine, streams and HTTP, ready to listen. */
export interface Millrace {
  readonly app: FastifyInstance
  readonly engine: RunEngine
  readonly streams: Streams
  /** Refuses new runs, waits `grace` ms for active ones, then ends streams and closes the app. The log stays open. */
  close(grace: number): Promise<void>
}

export async function createMillrace(options: MillraceOptions): Promise<Millrace> {
  const { log, now, newId, owner, version } = options
  const agents = directoryOf(options)
  const limits = { ...defaultLimits, ...options.limits, shares: sharesWith(options.limits?.shares) }
  const recording = recordingFor(options)
  let closing = false
  let stopped = false
  // Only our own clients get the log whole: to other clients an engine's checkpoints mean nothing.
  const all: readonly Dialect[] = Object.values(known).map((dialect) =>
    dialect.name === 'millrace' ? dialect : withoutCheckpoints(dialect),
  )
  const tracing = options.tracing && (await tracerOf(log, options.tracing))
  const audit = (entry: AuditEntry): void => {
    const { session, run, seq } = entry
    if (session !== undefined && run !== undefined && seq !== undefined) tracing?.follow(session, run, seq - 1)
    if (entry.action === 'run.start' || entry.action === 'run.change')
      metrics.runsStarted.inc({ agent: entry.agent ?? '' })
    if (entry.action === 'run.finish')
      metrics.runsFinished.inc({ agent: entry.agent ?? '', outcome: entry.outcome ?? '' })
    const told = session === undefined ? entry : { ...entry, session: idInKey(session) }
    auditLog?.info(told, entry.action)
    options.onAudit?.(told)
  }
  const engine = runEngine({
    log,
    agents: (name) => agents.get(name),
    now,
    newId,
    owner,
    limits: { ...runSharesOf(limits.shares), ...defined(options.runLimits ?? {}) },
    // Without a secret that lasts, checkpoints count until the server ends.
    seal: recordSeal(log.secret ?? randomBytes(32)),
    onAudit: audit,
    recording,
  })
  const fanOut = streams({
    log,
    dialects: all,
    formats: {
      'adk-whole': sseFormat(withoutCheckpoints(adkWithoutPartials)),
      'adk-authors': sseFormat(withoutCheckpoints(adkEveryAuthor)),
      'ag-ui-0': sseFormat(withoutCheckpoints(known['ag-ui']), { protocol: '0' }),
      'ag-ui-0-custom': sseFormat(withoutCheckpoints(known['ag-ui']), { protocol: '0', questions: 'custom' }),
      'ag-ui-protobuf': agUiProtobufFormat('1'),
      'ag-ui-0-protobuf': agUiProtobufFormat('0'),
      'studio-delta': sseFormat(withoutCheckpoints(known.studio), { chunks: 'delta' }),
      'studio-run': sseFormat(withoutCheckpoints(known.studio), { namesRun: true }),
      'studio-page-run': sseFormat(withoutCheckpoints(known.studio), { namesRun: true, endsAtQuestion: true }),
      'studio-delta-run': sseFormat(withoutCheckpoints(known.studio), { namesRun: true, chunks: 'delta' }),
    },
    ...defined({ heartbeat: options.heartbeat }),
    ...options.retain,
    onError: (error, key) => app?.log.error({ err: error, session: idInKey(key) }, 'a stream failed'),
  })
  const metrics = createMetrics({ activeRuns: () => engine.active, readers: () => fanOut.readers })
  let app: FastifyInstance | undefined
  let auditLog: FastifyBaseLogger | undefined
  app = await createApp({
    log,
    engine,
    streams: fanOut,
    views: viewReads(log, limits),
    agents: shownTo(agents, recording),
    now,
    newId,
    limits,
    disconnect: { ...defaultDisconnect, ...defined(options.disconnect ?? {}) },
    version,
    metrics,
    ready: () => !closing,
    stopped: () => stopped,
    audit,
    evals: options.evals ?? memoryEvalStore(),
    ...defined({
      page: options.page,
      adkWeb: options.adkWeb,
      access: options.access,
      basePath: options.basePath,
      logger: options.logger,
      memory: options.memory,
    }),
  })
  // The audit is logged at every level except `silent`.
  auditLog = app.log.level === 'silent' ? app.log : app.log.child({ audit: true }, { level: 'info' })
  return {
    app,
    engine,
    streams: fanOut,
    async close(grace) {
      closing = true
      await engine.shutdown(grace)
      stopped = true
      fanOut.close()
      await tracing?.close()
      await app.close()
    },
  }
}

/** What the records of an agent's model calls have. */
function recordingFor({ recordPrompts, prices, access }: MillraceOptions): (agent: string) => CallRecording {
  const usual = !needsProof(access ?? {})
  return (agent) => ({ prompts: recordPrompts?.(agent) ?? usual, ...defined({ prices }) })
}

function runSharesOf({ runs, queued }: Shares): Partial<RunLimits> {
  return { perProcess: runs.all, perUser: runs.user, queue: queued.all, queuePerUser: queued.user }
}

/** The agents of this moment: folders come and go while the server runs. */
function directoryOf({ agents: catalog, fallback }: MillraceOptions): AgentDirectory {
  const names = (): readonly string[] => {
    catalog.refresh?.()
    return [...catalog.agents.keys()]
  }
  return {
    get names() {
      return names()
    },
    get(name) {
      catalog.refresh?.(name)
      return catalog.agents.get(name)
    },
    get fallback() {
      if (fallback !== undefined && catalog.agents.has(fallback)) return fallback
      return names()[0] ?? ''
    },
  }
}

/** The agents for those who ask: where prompts are not recorded, the instructions are not shown in a list of agents either. */
function shownTo(agents: AgentDirectory, recording: (agent: string) => CallRecording): AgentDirectory {
  return {
    get names() {
      return agents.names
    },
    get(name) {
      const agent = agents.get(name)
      return agent === undefined || recording(name).prompts ? agent : withoutInstructions(agent)
    },
    get fallback() {
      return agents.fallback
    },
  }
}

/** Imported only when tracing is on, because the import slows every start of the server. */
async function tracerOf(log: EventLog, { tracer, root }: NonNullable<MillraceOptions['tracing']>) {
  return (await import('./telemetry/tracing.ts')).runTracer(log, tracer, root)
}
