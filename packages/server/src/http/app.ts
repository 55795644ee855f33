import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import { MillraceError } from '@millrace/core'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { type Access, guardAccess } from './access.ts'
import { readJsonBodies } from './json-body.ts'
import { pageRoutes } from './page.ts'
import { sendProblem } from './problem.ts'
import { serviceRoutes } from './service.ts'
import { type SessionDeps, sessionRoutes } from './session.ts'

export interface AppDeps extends SessionDeps {
  readonly version: string
  /** The folder of the built page; absent in tests that need none. */
  readonly page?: string
  readonly access?: Access
  /** The largest request body, in bytes. */
  readonly bodyLimit?: number
  readonly logger?: FastifyServerOptions['logger']
}

/** Slow or silent clients are cut: a socket may not be held by dribbling headers or bodies. */
const patience = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16_384,
}

/** The HTTP side as one Fastify app: it composes, and never listens, reads env or prints. */
export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const app = Fastify({
    logger: deps.logger ?? false,
    bodyLimit: deps.bodyLimit ?? 1024 * 1024,
    forceCloseConnections: true,
    http: patience,
    requestTimeout: patience.requestTimeout,
    routerOptions: { maxParamLength: 500 },
  })
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      new MillraceError('not-found', `no route ${request.method} ${request.url.split('?')[0]}`),
      request,
      reply,
    ),
  )
  // `admit` validates, with every bad path in the answer; route schemas are documentation.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  const access = deps.access ?? {}
  guardAccess(app, access, isOpen)
  await app.register(cors, { origin: [...(access.origins ?? [])], exposedHeaders: ['retry-after'], maxAge: 600 })
  await app.register(helmet, pagePolicy)
  readJsonBodies(app)
  await app.register(serviceRoutes(deps))
  await app.register(sessionRoutes(deps))
  if (deps.page !== undefined) await app.register(pageRoutes({ page: deps.page }))
  return app
}

/** What answers without a token: liveness, and the page, which holds nothing until a token is given to it. */
function isOpen(path: string): boolean {
  return (
    path === '/' || path === '/health' || path === '/ready' || path.startsWith('/assets/') || path.startsWith('/s/')
  )
}

/** The page needs its own files and inline styles of the graph library, data: images, and nothing else. */
const pagePolicy = {
  contentSecurityPolicy: {
    directives: {
      defaultSrc: ["'self'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:', 'blob:'],
      connectSrc: ["'self'"],
      workerSrc: ["'self'", 'blob:'],
      objectSrc: ["'none'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      upgradeInsecureRequests: null,
    },
  },
  crossOriginEmbedderPolicy: false,
  strictTransportSecurity: false,
} as const
