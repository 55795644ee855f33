import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics } from '../../telemetry/metrics.ts'

/**
 * Counts every request by its route, never by its path: a label must not grow with what clients think of. A stream is
 * counted when it opens, by the function given back, because a reader that leaves never finishes its response.
 */
export function measureRequests(
  app: FastifyInstance,
  { requests }: Metrics,
): (request: FastifyRequest, reply: FastifyReply) => void {
  const observe = ({ method, routeOptions }: FastifyRequest, reply: FastifyReply): void => {
    const labels = { method, route: routeOptions.url ?? 'none', status: String(reply.raw.statusCode) }
    requests.observe(labels, reply.elapsedTime / 1000)
  }
  const streams = new WeakSet<FastifyRequest>()
  app.addHook('onResponse', async (request, reply) => {
    if (!streams.has(request)) observe(request, reply)
  })
  return (request, reply) => {
    streams.add(request)
    observe(request, reply)
  }
}
