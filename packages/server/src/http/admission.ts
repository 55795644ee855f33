import { MillraceError } from '@millrace/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Allotments } from './allotments.ts'
import { MinuteCounts, type OnRefused, OpenCounts } from './share-counts.ts'
import type { ShareName, Shares } from './shares.ts'

export interface AdmissionOptions {
  readonly shares: Shares
  readonly now: () => number
  readonly refused: OnRefused
  /** Whether memory is short: new work is refused then, and what has begun goes on. */
  readonly isShort: () => boolean
  /** Counts over all servers of the log; absent where there is only this one. */
  readonly shared?: Allotments | undefined
}

/**
 * Lets a request in if its user, and all users together, have a share left for it. What a request counts as is read from
 * the declaration of its route, so that no route can be forgotten. It happens before the body is read.
 */
export function admitRequests(app: FastifyInstance, options: AdmissionOptions): void {
  const { shares, now, refused, isShort, shared } = options
  const open = {
    streams: new OpenCounts('streams', shares.streams, refused),
    reads: new OpenCounts('reads', shares.reads, refused),
  }
  const perMinute = {
    writes: new MinuteCounts('writes', shares.writes, refused, now, shared),
    imports: new MinuteCounts('imports', shares.imports, refused, now, shared),
    forks: new MinuteCounts('forks', shares.forks, refused, now, shared),
  }
  app.addHook('onRequest', (request, reply, next) => {
    const name = shareOf(request)
    if (name !== undefined && isShort())
      throw new MillraceError('unavailable', 'the server is short of memory; try again later', { retryAfter: 5 })
    if (name === 'streams' || name === 'reads') whenOver(reply, open[name].take(request.principal))
    else if (name !== undefined && name !== 'start') {
      perMinute[name].take(request.principal).then(() => next(), next)
      return
    }
    next()
  })
  // The body may have taken long. What no client waits for any more is not begun.
  app.addHook('preHandler', (request, reply, next) => {
    if (request.raw.socket?.destroyed === true && shareOf(request) !== undefined) {
      reply.hijack()
      reply.raw.destroy()
    } else next()
  })
}

type Counted = Extract<ShareName, 'streams' | 'reads' | 'writes' | 'imports' | 'forks'> | 'start'

/** Undefined for a route that everyone may call at any time, and for what no route takes. */
function shareOf({ method, routeOptions: { config } }: FastifyRequest): Counted | undefined {
  const { effect, stream = false, open = false, share } = config?.effect ?? {}
  // What frees something is answered at any time.
  if (effect === undefined || open || method === 'OPTIONS' || method === 'DELETE') return undefined
  if (share !== undefined) return share === 'none' ? undefined : share
  if (stream) return method === 'HEAD' ? 'reads' : 'streams'
  return effect === 'read' ? 'reads' : effect === 'write' ? 'writes' : 'start'
}

function whenOver({ raw }: FastifyReply, release: () => void): void {
  raw.once('close', release)
  raw.once('finish', release)
}
