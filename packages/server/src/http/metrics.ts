import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** What an operator watches. One registry per app, so that tests and embedders do not share counts. */
export interface Metrics {
  readonly registry: Registry
  readonly runsStarted: Counter<'agent'>
  readonly runsFinished: Counter<'agent' | 'outcome'>
  readonly requests: Histogram<'method' | 'route' | 'status'>
}

export function createMetrics(read: { readonly activeRuns: () => number; readonly readers: () => number }): Metrics {
  const registry = new Registry()
  const registers = [registry]
  new Gauge({
    name: 'millrace_runs_active',
    help: 'Runs under way in this process',
    registers,
    collect() {
      this.set(read.activeRuns())
    },
  })
  new Gauge({
    name: 'millrace_stream_readers',
    help: 'Open event streams',
    registers,
    collect() {
      this.set(read.readers())
    },
  })
  return {
    registry,
    runsStarted: new Counter({
      name: 'millrace_runs_started_total',
      help: 'Runs started',
      labelNames: ['agent'],
      registers,
    }),
    runsFinished: new Counter({
      name: 'millrace_runs_finished_total',
      help: 'Runs finished, by outcome',
      labelNames: ['agent', 'outcome'],
      registers,
    }),
    requests: new Histogram({
      name: 'millrace_http_request_seconds',
      help: 'Time to answer a request; for streams, time to the first byte',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
      registers,
    }),
  }
}
