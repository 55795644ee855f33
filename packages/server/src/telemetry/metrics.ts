import { createRequire } from 'node:module'
import type * as Prometheus from 'prom-client'
import type { Counter, Histogram, Registry } from 'prom-client'

// Loaded one by one, because the package's index also loads its process metrics, and OpenTelemetry with them.
const load = createRequire(import.meta.url)
const prometheus = {
  Counter: load('prom-client/lib/counter'),
  Gauge: load('prom-client/lib/gauge'),
  Histogram: load('prom-client/lib/histogram'),
  Registry: load('prom-client/lib/registry'),
} as Pick<typeof Prometheus, 'Counter' | 'Gauge' | 'Histogram' | 'Registry'>

/** The metrics of one app. Each app has its own registry, so that tests and embedders do not share counts. */
export interface Metrics {
  readonly registry: Registry
  readonly runsStarted: Counter<'agent'>
  readonly runsFinished: Counter<'agent' | 'outcome'>
  readonly requests: Histogram<'method' | 'route' | 'status'>
  /** Requests that were refused because a share was used up. */
  readonly refused: Counter<'share' | 'by'>
}

export function createMetrics(read: { readonly activeRuns: () => number; readonly readers: () => number }): Metrics {
  const registry = new prometheus.Registry()
  const registers = [registry]
  new prometheus.Gauge({
    name: 'millrace_runs_active',
    help: 'Active runs in this process',
    registers,
    collect() {
      this.set(read.activeRuns())
    },
  })
  new prometheus.Gauge({
    name: 'millrace_stream_readers',
    help: 'Open event streams',
    registers,
    collect() {
      this.set(read.readers())
    },
  })
  return {
    registry,
    runsStarted: new prometheus.Counter({
      name: 'millrace_runs_started_total',
      help: 'Runs started',
      labelNames: ['agent'],
      registers,
    }),
    runsFinished: new prometheus.Counter({
      name: 'millrace_runs_finished_total',
      help: 'Runs finished, by outcome',
      labelNames: ['agent', 'outcome'],
      registers,
    }),
    refused: new prometheus.Counter({
      name: 'millrace_refused_total',
      help: 'Requests refused because a user, or all users together, had their share',
      labelNames: ['share', 'by'],
      registers,
    }),
    requests: new prometheus.Histogram({
      name: 'millrace_http_request_seconds',
      help: 'Time to answer a request; for streams, time to the first byte',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
      registers,
    }),
  }
}
