import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics } from '../../telemetry/metrics.ts'

/**
 * Counts every request by its route, never by its path, because clients could create any number of labels. The returned
 * function counts a stream when it opens, because a reader that disconnects never finishes its response.
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
  app.addHook('onResponse', (request, reply, next) => {
    if (!streams.has(request)) observe(request, reply)
    next()
  })
  return (request, reply) => {
    streams.add(request)
    observe(request, reply)
  }
}
