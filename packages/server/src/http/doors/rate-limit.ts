import rateLimit from '@fastify/rate-limit'
import { MillraceError } from '@millrace/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { cursorOf } from '../stream.ts'

/** New runs per user (or address) and minute; everything else is bounded by what it does. 429 says when to come back. */
export async function limitRuns(app: FastifyInstance, runsPerMinute: number): Promise<void> {
  await app.register(rateLimit, {
    max: runsPerMinute,
    timeWindow: 60_000,
    // After the token is read, so that a user is counted, not an address many users share.
    hook: 'preHandler',
    keyGenerator: (request) => request.principal ?? request.ip,
    allowList: (request) => request.routeOptions.config.effect?.effect !== 'start' || isReconnect(request),
    errorResponseBuilder: (_request, { ttl }) =>
      new MillraceError('limit', `at most ${runsPerMinute} new runs a minute`, { retryAfter: Math.ceil(ttl / 1000) }),
  })
}

/** A GET with a cursor re-joins and never starts: a browser on a bad network must not use up what its user may start. */
function isReconnect(request: FastifyRequest): boolean {
  return request.method === 'GET' && cursorOf(request) !== undefined
}
