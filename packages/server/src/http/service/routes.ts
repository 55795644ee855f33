import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { docsPage } from '../openapi/docs-page.ts'
import { documented, type Surface, type SurfaceDeps } from '../surface.ts'

const serviceRoutes =
  ({ version, metrics, ready, trouble }: SurfaceDeps): FastifyPluginAsync =>
  async (app) => {
    app.get(
      '/health',
      documented({
        effect: 'read',
        open: true,
        summary: 'Whether the process is alive',
        answer: 'It is alive',
        result: z.object({ status: z.string(), version: z.string() }),
      }),
      async () => ({ status: 'ok', version }),
    )
    app.get(
      '/ready',
      documented({
        effect: 'read',
        open: true,
        summary: 'Whether the server takes new runs',
        answer: 'It takes runs; 503 while it does not, with the reason',
        result: z.object({ status: z.string(), reason: z.string().optional() }),
      }),
      async (_request, reply) => {
        const reason = ready() ? await trouble() : 'it is shutting down'
        if (reason === undefined) return { status: 'ready' }
        return reply.code(503).header('retry-after', '1').send({ status: 'not ready', reason })
      },
    )
    app.get(
      '/metrics',
      documented({
        effect: 'read',
        operator: true,
        share: 'none',
        summary: 'Prometheus metrics',
        answer: 'Samples',
        type: 'text/plain',
      }),
      async (_request, reply) => reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
    )
    app.get(
      '/openapi.json',
      documented({
        effect: 'read',
        open: true,
        summary: 'This API as OpenAPI',
        answer: 'The OpenAPI 3.1 document',
        result: { type: 'object' },
      }),
      async () => app.swagger(),
    )
    app.get(
      '/docs',
      documented({ effect: 'read', open: true, summary: 'This API for people', answer: 'A page', type: 'text/html' }),
      async (_request, reply) => reply.type('text/html; charset=utf-8').send(docsPage(app.swagger())),
    )
  }

export const serviceSurface: Surface = {
  tag: 'Service',
  about: 'Health, metrics, this document',
  routes: serviceRoutes,
}
