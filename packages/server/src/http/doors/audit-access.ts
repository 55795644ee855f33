import { defined } from '@millrace/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AuditEntry } from '../../telemetry/audit.ts'

/**
 * Records who read or changed which session, who was refused, and what operators did, where requests prove who they come
 * from. Lists, metrics and the page are left out: they are polled. Starts of runs are left out: the engine records them.
 * The returned function records a stream when it opens, because a stream may last for days.
 */
export function auditAccess(
  app: FastifyInstance,
  { audit, now }: { readonly audit: (entry: AuditEntry) => void; readonly now: () => number },
): (request: FastifyRequest, reply: FastifyReply) => void {
  const streams = new WeakSet<FastifyRequest>()
  const record = (request: FastifyRequest, reply: FastifyReply): void => {
    const entry = entryOf(request, reply.raw.statusCode, now())
    if (entry !== undefined) audit(entry)
  }
  app.addHook('onResponse', (request, reply, next) => {
    if (!streams.has(request)) record(request, reply)
    next()
  })
  return (request, reply) => {
    streams.add(request)
    record(request, reply)
  }
}

function entryOf(request: FastifyRequest, status: number, at: number): AuditEntry | undefined {
  const { method, principal: user, routeOptions, about } = request
  const { effect, surface } = routeOptions?.config ?? {}
  if (user === undefined || effect === undefined) return undefined
  const { session } = about
  // What a refused request named is left out: it may be anything, and is perhaps no session at all.
  const refused = status === 403 || status === 404
  if (!refused && effect.effect === 'start') return undefined
  if (!refused && session === undefined && surface?.tag !== 'Operator') return undefined
  const reads = method === 'GET' || method === 'HEAD'
  const action = refused ? 'request.refuse' : reads ? 'request.read' : 'request.change'
  return { at, action, user, route: `${method} ${routeOptions.url}`, status, ...defined({ session }) }
}
