import type { FastifyInstance, FastifyRequest } from 'fastify'

/** What a request turned out to be about; every line logged for it carries that. */
interface About {
  session?: string
  run?: string
}

declare module 'fastify' {
  interface FastifyRequest {
    about: About
  }
}

/**
 * One line per request, with the ids and without any contents: not the query either, because `?input=` is what a person
 * said. A stream has a line of its own when it ends, because a reader that leaves never finishes its response.
 */
export function logRequests(app: FastifyInstance): void {
  app.decorateRequest('about')
  app.addHook('onRequest', async (request) => {
    request.about = {}
  })
  app.addHook('onResponse', async (request, reply) => {
    const ms = Math.round(reply.elapsedTime)
    request.log.info({ ...factsOf(request), status: reply.statusCode, ms }, 'request')
  })
}

/** What may be said of a request in a log. */
export function factsOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  const { method, routeOptions, principal: user } = request
  return { method, route: routeOptions?.url, ...(user === undefined ? {} : { user }), ...request.about }
}
