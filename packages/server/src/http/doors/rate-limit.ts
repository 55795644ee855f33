import rateLimit, { type FastifyRateLimitStore, type FastifyRateLimitStoreCtor } from '@fastify/rate-limit'
import { MillraceError } from '@millrace/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Allotments } from '../allotments.ts'
import { cursorOf } from '../stream.ts'

/** Limits the new runs of a user (or of an address) per minute, over all servers of a log. The 429 says when to retry. */
export async function limitRuns(app: FastifyInstance, runsPerMinute: number, shared?: Allotments): Promise<void> {
  await app.register(rateLimit, {
    ...(shared === undefined ? {} : { store: storeOn(shared) }),
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

/** While the log does not answer no run can start, so there is nothing to count. */
function storeOn(shared: Allotments): FastifyRateLimitStoreCtor {
  return class SharedStore implements FastifyRateLimitStore {
    incr: FastifyRateLimitStore['incr'] = (key, callback, timeWindow, max) =>
      void shared.take(`runs/${key}`, max).then((counted) => {
        if (counted === undefined) callback(null, { current: 1, ttl: timeWindow })
        else callback(null, { current: counted.granted ? Math.min(max, counted.count) : max + 1, ttl: counted.left })
      })
    child(): FastifyRateLimitStore {
      return this
    }
  }
}

/** A GET with a cursor re-joins a run and never starts one, so a browser on a bad network does not use up the limit. */
function isReconnect(request: FastifyRequest): boolean {
  return request.method === 'GET' && cursorOf(request) !== undefined
}
