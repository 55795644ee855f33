import { MillraceError } from '@millrace/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ReadGate, type ReadLimits } from '../../view/read-gate.ts'

/**
 * Bounds the requests that hold all rows of a session in memory, for each user and in all. They wait for their turn
 * before anything is read, and the turn lasts until the answer was sent.
 */
export function boundWholeReads(app: FastifyInstance, { reads, readsPerUser, waitingPerUser }: ReadLimits): void {
  const gate = new ReadGate({ reads: 2 * reads, readsPerUser: 2 * readsPerUser, waitingPerUser })
  const enter = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const left = new AbortController()
    reply.raw.once('close', () => left.abort(new MillraceError('cancelled', 'the client has left')))
    const leave = await gate.enter(request.principal ?? request.ip, left.signal)
    reply.raw.once('close', leave)
    reply.raw.once('finish', leave)
  }
  app.addHook('preHandler', (request, reply, next) => {
    if (request.routeOptions.config.effect?.whole !== true) next()
    else enter(request, reply).then(() => next(), next)
  })
}
