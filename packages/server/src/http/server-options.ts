import type { Server } from 'node:http'
import { type FastifyHttpOptions, type FastifyServerOptions, LogController } from 'fastify'
import type { HttpLimits } from './deps.ts'
import { answerBrokenHttp } from './doors/client-error.ts'
import { sendProblem } from './doors/problem.ts'

/** Slow or silent clients are cut: a socket may not be held by dribbling headers or bodies. */
const patience = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16_384,
}

export function serverOptions(
  { logger = false, limits }: { readonly logger?: FastifyServerOptions['logger']; readonly limits: HttpLimits },
  basePath: string,
): FastifyHttpOptions<Server> {
  return {
    logger,
    bodyLimit: limits.body,
    forceCloseConnections: true,
    http: patience,
    requestTimeout: patience.requestTimeout,
    routerOptions: { maxParamLength: 500 },
    clientErrorHandler: answerBrokenHttp,
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply),
    // Fastify's own answer while closing is no problem JSON; a hook of ours gives one.
    return503OnClosing: false,
    // Its lines carry the query, and Studio's query is what a person said; `logRequests` writes ours.
    logController: new LogController({ disableRequestLogging: true }),
    ...(basePath === '' ? {} : { rewriteUrl: ({ url = '/' }) => below(basePath, url) }),
  }
}

/** A proxy may strip the prefix or not: with it and without it, a path is the same path. */
function below(basePath: string, url: string): string {
  if (!url.startsWith(basePath)) return url
  const rest = url.slice(basePath.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : url
}
