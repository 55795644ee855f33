import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Metrics } from '../../telemetry/metrics.ts'
import { documented } from '../doors/validate-body.ts'

export interface ServiceDeps {
  readonly version: string
  readonly metrics: Metrics
  /** False while starting and shutting down: a load balancer sends nobody. */
  readonly ready: () => boolean
}

export const serviceRoutes =
  ({ version, metrics, ready }: ServiceDeps): FastifyPluginAsync =>
  async (app) => {
    const doc = { tag: 'Service' } as const
    app.get(
      '/health',
      documented({
        ...doc,
        summary: 'The process is alive',
        answer: 'It is',
        result: z.object({ status: z.string(), version: z.string() }),
      }),
      async () => ({ status: 'ok', version }),
    )
    app.get(
      '/ready',
      documented({
        ...doc,
        summary: 'It takes runs',
        answer: 'It does; 503 while it does not',
        result: z.object({ status: z.string() }),
      }),
      async (_request, reply) =>
        ready() ? { status: 'ready' } : reply.code(503).header('retry-after', '1').send({ status: 'not ready' }),
    )
    app.get(
      '/metrics',
      documented({ ...doc, summary: 'Prometheus metrics', answer: 'Samples', type: 'text/plain' }),
      async (_request, reply) => reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
    )
  }
