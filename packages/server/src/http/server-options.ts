import type { Server } from 'node:http'
import { type FastifyHttpOptions, type FastifyServerOptions, LogController } from 'fastify'
import type { HttpLimits } from './deps.ts'
import { answerBrokenHttp } from './doors/client-error.ts'
import { sendProblem } from './doors/problem.ts'
import { protectionHeaders } from './doors/protection.ts'

/** Ends connections whose headers or body arrive too slowly; in ms and bytes. */
const patience = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16_384,
}

/**
 * Route schemas are documentation: `validateBody` validates and lists every bad path, and answers are sent as they are.
 * Given here and not set on the app, so that Fastify loads neither Ajv nor its serializer, a hundred files.
 */
const schemaController = {
  compilersFactory: {
    // Fastify's type asks for a validator of Ajv, which has more than Fastify calls.
    buildValidator: () => (() => () => true) as never,
    buildSerializer: () => () => (answer: unknown) => JSON.stringify(answer),
  },
}

export function serverOptions(
  { logger = false, limits }: { readonly logger?: FastifyServerOptions['logger']; readonly limits: HttpLimits },
  basePath: string,
): FastifyHttpOptions<Server> {
  return {
    logger,
    bodyLimit: limits.body,
    // The server must start even on a machine so busy that loading one part takes more than Fastify's ten seconds.
    pluginTimeout: 0,
    forceCloseConnections: true,
    schemaController,
    http: patience,
    requestTimeout: patience.requestTimeout,
    routerOptions: { maxParamLength: 500 },
    clientErrorHandler: answerBrokenHttp,
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply.headers({ ...protectionHeaders })),
    // Fastify's own answer while closing is not problem JSON; a hook in `app.ts` sends one.
    return503OnClosing: false,
    // Fastify logs the query, and Studio's query holds what a person wrote; `logRequests` writes lines without it.
    logController: new LogController({ disableRequestLogging: true }),
    ...(basePath === '' ? {} : { rewriteUrl: ({ url = '/' }) => below(basePath, url) }),
  }
}

/** The path without the prefix. A path that comes without it (the proxy stripped it) stays as it is. */
function below(basePath: string, url: string): string {
  if (!url.startsWith(basePath)) return url
  const rest = url.slice(basePath.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : url
}
