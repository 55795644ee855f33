import { defined } from '@millrace/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** The session and run of a request; every line that is logged for it carries them. */
interface RequestSubject {
  session?: string
  run?: string
}

declare module 'fastify' {
  interface FastifyRequest {
    about: RequestSubject
  }
}

/**
 * Logs one line per request, with ids and without contents. The query is left out, because `?input=` holds what a person
 * wrote. A stream logs its line when it ends, because a reader that disconnects never finishes its response.
 */
export function logRequests(app: FastifyInstance): void {
  app.decorateRequest('about')
  app.addHook('onRequest', (request, _reply, next) => {
    request.about = {}
    next()
  })
  app.addHook('onResponse', (request, reply, next) => {
    const ms = Math.round(reply.elapsedTime)
    request.log.info({ ...factsOf(request), status: reply.statusCode, ms }, 'request')
    next()
  })
}

/** The facts of a request that may be logged. */
export function factsOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  const { method, routeOptions, principal: user } = request
  return { method, route: routeOptions?.url, ...defined({ user }), ...request.about }
}
