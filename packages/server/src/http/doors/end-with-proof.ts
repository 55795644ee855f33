import type { FastifyReply, FastifyRequest } from 'fastify'

/** A timer with a longer delay would fire at once. */
const longestTimer = 2 ** 31 - 1

/**
 * Ends a stream that follows a session when the token or the cookie that opened it ends: the client joins again with a
 * new one. The stream of a run that the request itself started stays open until the end of the run, because a client
 * that leaves may cancel it.
 */
export function endWithProof(request: FastifyRequest, reply: FastifyReply, now: () => number): void {
  const { identity, query, routeOptions } = request
  if (identity?.until === undefined || routeOptions.config.effect?.effect === 'start') return
  if ((query as { disconnect?: unknown }).disconnect === 'cancel') return
  const timer = setTimeout(() => reply.raw.destroy(), Math.min(longestTimer, Math.max(0, identity.until - now())))
  reply.raw.once('close', () => clearTimeout(timer))
}
