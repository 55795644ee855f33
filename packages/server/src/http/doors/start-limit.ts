import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { MinuteCounts } from '../share-counts.ts'
import { cursorOf } from '../stream.ts'

/**
 * Limits the new runs of a user, or of an address where users need not prove who they are. It counts after the token is
 * read, so that many users may share an address.
 */
export function limitStarts(app: FastifyInstance, counts: MinuteCounts): void {
  app.addHook('preHandler', (request, _reply, next) => {
    if (request.routeOptions.config.effect?.effect !== 'start' || isReconnect(request)) next()
    else counts.take(request.principal ?? request.ip).then(() => next(), next)
  })
}

/** A GET with a cursor re-joins a run and never starts one, so a browser on a bad network does not use up the limit. */
function isReconnect(request: FastifyRequest): boolean {
  return request.method === 'GET' && cursorOf(request) !== undefined
}
