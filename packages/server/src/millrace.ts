import { type Dialect, type EventLog, dialects as known } from '@millrace/core'
import type { Context, Tracer } from '@opentelemetry/api'
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions } from 'fastify'
import type { AgentCatalog } from './agent/catalog.ts'
import { adkWithoutPartials } from './http/adk/adk-without-partials.ts'
import { agUiProtobufFormat } from './http/ag-ui/protobuf.ts'
import { createApp } from './http/app.ts'
import { defaultLimits, type HttpLimits } from './http/deps.ts'
import type { Access } from './http/doors/access.ts'
import { withoutCheckpoints } from './http/session/without-checkpoints.ts'
import { runEngine } from './run/engine.ts'
import type { RunLimits } from './run/limits.ts'
import type { RunEngine } from './run/run-engine.ts'
import { sseFormat } from './stream/stream-format.ts'
import { type Streams, type StreamsOptions, streams } from './stream/streams.ts'
import type { AuditEntry } from './telemetry/audit.ts'
import { createMetrics } from './telemetry/metrics.ts'

export interface MillraceOptions {
  readonly log: EventLog
  readonly agents: Pick<AgentCatalog, 'agents'>
  readonly now: () => number
  readonly newId: () => string
  /** Who holds the leases; see RunEngineOptions. */
  readonly owner: string
  readonly version: string
  readonly fallback?: string
  readonly page?: string
  readonly access?: Access
  /** Where a proxy that strips nothing serves us, such as `/millrace`. */
  readonly basePath?: string
  readonly limits?: Partial<HttpLimits>
  readonly runLimits?: Partial<RunLimits>
  readonly heartbeat?: number
  /** How much of what was printed is kept for readers that come back; see StreamsOptions. */
  readonly retain?: Pick<StreamsOptions, 'retain' | 'retainTotal'>
  readonly logger?: FastifyServerOptions['logger']
  readonly onAudit?: (entry: AuditEntry) => void
  /** Spans of every run go here; absent: none are made. */
  readonly tracing?: { readonly tracer: Tracer; readonly root: Context }
}

/** A whole Millrace over one log: engine, fan-out and HTTP, ready to listen. */
export interface Millrace {
  readonly app: FastifyInstance
  readonly engine: RunEngine
  readonly streams: Streams
  /** Takes no more runs, lets the active ones finish for `grace` ms, ends streams, closes the app. The log stays open. */
  close(grace: number): Promise<void>
}

export async function createMillrace(options: MillraceOptions): Promise<Millrace> {
  const { log, now, newId, owner, version } = options
  const catalog = options.agents.agents
  const names = [...catalog.keys()]
  let closing = false
  let stopped = false
  // Our own clients get the log as it is; what an engine notes for itself is no business of the others.
  const all: readonly Dialect[] = Object.values(known).map((dialect) =>
    dialect.name === 'millrace' ? dialect : withoutCheckpoints(dialect),
  )
  const tracing = options.tracing && (await tracerOf(log, options.tracing))
  const audit = (entry: AuditEntry): void => {
    if (entry.run !== undefined && entry.seq !== undefined) tracing?.follow(entry.session, entry.run, entry.seq - 1)
    if (entry.action === 'run.start') metrics.runsStarted.inc({ agent: entry.agent ?? '' })
    if (entry.action === 'run.finish')
      metrics.runsFinished.inc({ agent: entry.agent ?? '', outcome: entry.outcome ?? '' })
    auditLog?.info(entry, entry.action)
    options.onAudit?.(entry)
  }
  const engine = runEngine({
    log,
    agents: (name) => catalog.get(name),
    now,
    newId,
    owner,
    ...(options.runLimits === undefined ? {} : { limits: options.runLimits }),
    onAudit: audit,
  })
  const fanOut = streams({
    log,
    dialects: all,
    wires: {
      'adk-whole': sseFormat(withoutCheckpoints(adkWithoutPartials)),
      'ag-ui-0': sseFormat(withoutCheckpoints(known['ag-ui']), { protocol: '0' }),
      'ag-ui-protobuf': agUiProtobufFormat('1'),
      'ag-ui-0-protobuf': agUiProtobufFormat('0'),
      'studio-run': sseFormat(withoutCheckpoints(known.studio), { namesRun: true }),
    },
    ...(options.heartbeat === undefined ? {} : { heartbeat: options.heartbeat }),
    ...options.retain,
    onError: (error, session) => app?.log.error({ err: error, session }, 'a stream could not be read'),
  })
  const metrics = createMetrics({ activeRuns: () => engine.active, readers: () => fanOut.readers })
  let app: FastifyInstance | undefined
  let auditLog: FastifyBaseLogger | undefined
  app = await createApp({
    log,
    engine,
    streams: fanOut,
    agents: { names, get: (name) => catalog.get(name), fallback: options.fallback ?? names[0] ?? '' },
    now,
    newId,
    limits: { ...defaultLimits, ...options.limits },
    version,
    metrics,
    ready: () => !closing,
    stopped: () => stopped,
    audit,
    ...(options.page === undefined ? {} : { page: options.page }),
    ...(options.access === undefined ? {} : { access: options.access }),
    ...(options.basePath === undefined ? {} : { basePath: options.basePath }),
    ...(options.logger === undefined ? {} : { logger: options.logger }),
  })
  // Who started, stopped or deleted what is told at every level but silence.
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

/** Loaded only when traces are wanted: every start would pay for it. */
async function tracerOf(log: EventLog, { tracer, root }: NonNullable<MillraceOptions['tracing']>) {
  return (await import('./telemetry/tracing.ts')).runTracer(log, tracer, root)
}
