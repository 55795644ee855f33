import { defined, MillraceError } from '@millrace/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse, sendProblem } from './problem.ts'

/** Sends the page for a path that leads nowhere. */
export type UnknownPage = (path: string, reply: FastifyReply) => FastifyReply

interface Known {
  readonly pattern: RegExp
  readonly methods: readonly string[]
  readonly type: string | undefined
}

/**
 * Answers a known path with an unsupported method by a 405 that lists its methods, and an unknown path by a 404. The
 * lookup happens only when no route matched, so other requests pay nothing for it. Must be called before the routes are
 * registered. A browser that was led to an unknown path gets the page, which says so.
 */
export function answerUnmatched(app: FastifyInstance, page?: UnknownPage): void {
  const known: Known[] = []
  app.addHook('onRoute', ({ url, method, config }) => {
    const methods = [method].flat()
    // The CORS plugin registers `*` for preflights.
    if (url !== '*') known.push({ pattern: patternOf(url), methods, type: config?.surface?.problemType })
  })
  const at = (path: string) => {
    const found = known.filter(({ pattern }) => pattern.test(path))
    const methods = new Set(found.flatMap(({ methods }) => methods))
    const type = found.length > 0 && found.every((route) => route.type !== undefined) ? found[0]?.type : undefined
    return { allow: [...methods, 'OPTIONS'].toSorted().join(', '), methods, known: methods.size > 0, type }
  }
  // The CORS plugin answers the preflights of browsers; other OPTIONS requests ask which methods a path has.
  app.addHook('onRequest', (request, reply, next) => {
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] !== undefined) {
      next()
      return
    }
    const { allow, known } = at(pathOf(request.url))
    if (known) reply.code(204).header('allow', allow).send()
    else throw new MillraceError('not-found', `no route ${pathOf(request.url)}`)
  })
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request.url)
    const { allow, methods, known, type } = at(path)
    // A route that matched can end here, too: a missing file of the page.
    const wrongMethod = known && !methods.has(request.method)
    const error = wrongMethod
      ? refuse('method-not-allowed', `${path} takes ${allow}, not ${request.method}`, { ...defined({ type }), allow })
      : new MillraceError('not-found', `no route ${request.method} ${path}`)
    if (!known && page !== undefined && isVisit(request)) return page(path, reply)
    return sendProblem(error, request, reply)
  })
}

/** Whether a person follows a link, as opposed to a program that asks for data. */
export function isVisit({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && headers.accept?.includes('text/html') === true
}

/** The regular expression for a route of Fastify, such as `/a/:b` or `/a/*`. */
function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+'
    if (segment === '*') return '.*'
    return segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${segments.join('/')}$`)
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? '/'
