import rateLimit from '@fastify/rate-limit'
import { MillraceError } from '@millrace/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { cursorOf } from '../stream.ts'

/** Limits the new runs of a user (or of an address) per minute. The 429 says when to retry. */
export async function limitRuns(app: FastifyInstance, runsPerMinute: number): Promise<void> {
  await app.register(rateLimit, {
    max: runsPerMinute,
    timeWindow: 60_000,
    // After the token is read, so that the limit counts users and not an address that many of them share.
    hook: 'preHandler',
    keyGenerator: (request) => request.principal ?? request.ip,
    allowList: (request) => request.routeOptions.config.effect?.effect !== 'start' || isReconnect(request),
    errorResponseBuilder: (_request, { ttl }) =>
      new MillraceError('limit', `at most ${runsPerMinute} new runs per minute; retry later`, {
        retryAfter: Math.ceil(ttl / 1000),
      }),
  })
}

/** A GET with a cursor re-joins a run and never starts one, so a browser on a bad network does not use up the limit. */
function isReconnect(request: FastifyRequest): boolean {
  return request.method === 'GET' && cursorOf(request) !== undefined
}
