import { MillraceError } from '@millrace/core'
import type { FastifyInstance } from 'fastify'
import { refuse, sendProblem } from './problem.ts'

interface Known {
  readonly pattern: RegExp
  readonly methods: readonly string[]
  readonly type: string | undefined
}

/**
 * A known path with a wrong method is a 405 that says which it has; an unknown one a 404. Looked up only when nothing
 * matched, so it costs a good request nothing. Must be called before the routes it knows are registered.
 */
export function answerUnmatched(app: FastifyInstance): void {
  const known: Known[] = []
  app.addHook('onRoute', ({ url, method, config }) => {
    const methods = [method].flat()
    // The catch-all of CORS is not a route of ours.
    if (url !== '*') known.push({ pattern: patternOf(url), methods, type: config?.surface?.problemType })
  })
  const at = (path: string) => {
    const found = known.filter(({ pattern }) => pattern.test(path))
    const methods = new Set(found.flatMap(({ methods }) => methods))
    const type = found.length > 0 && found.every((route) => route.type !== undefined) ? found[0]?.type : undefined
    return { allow: [...methods, 'OPTIONS'].toSorted().join(', '), methods, known: methods.size > 0, type }
  }
  // A preflight is asked by a browser and answered by CORS; this is somebody who wants to know what there is.
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] !== undefined) return
    const { allow, known } = at(pathOf(request.url))
    if (known) return reply.code(204).header('allow', allow).send()
    throw new MillraceError('not-found', `no route ${pathOf(request.url)}`)
  })
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request.url)
    const { allow, methods, known, type } = at(path)
    // A route that takes the method and found nothing (a file of the page) sends here too.
    const wrong = known && !methods.has(request.method)
    const said = type === undefined ? {} : { type }
    const error = wrong
      ? refuse('method-not-allowed', `${path} takes ${allow}, not ${request.method}`, { ...said, allow })
      : new MillraceError('not-found', `no route ${request.method} ${path}`)
    return sendProblem(error, request, reply)
  })
}

/** A route as Fastify writes it (`/a/:b`, `/a/*`) as an expression over paths. */
function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+'
    if (segment === '*') return '.*'
    return segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${segments.join('/')}$`)
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? '/'
