import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import { type Dialect, type DialectName, MillraceError } from '@millrace/core'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { type Access, guardAccess } from './access.ts'
import { adkRoutes } from './adk/adk-routes.ts'
import { agUiRoutes } from './ag-ui.ts'
import { agentRoutes } from './agents.ts'
import type { HttpDeps } from './deps.ts'
import { historyRoutes } from './history.ts'
import { readJsonBodies } from './json-body.ts'
import { describeApi } from './openapi.ts'
import { pagePolicy, pageRoutes } from './page.ts'
import { planRoutes } from './plan/plan-routes.ts'
import { sendProblem } from './problem.ts'
import { limitRuns } from './rate-limit.ts'
import { type ServiceDeps, serviceRoutes } from './service.ts'
import { sessionRoutes } from './session.ts'
import { sessionsRoutes } from './sessions.ts'
import { studioRoutes } from './studio.ts'

export interface AppDeps extends HttpDeps, ServiceDeps {
  readonly dialects: Readonly<Record<DialectName, Dialect>>
  /** Which dialect a recorded stream is in. */
  readonly detect: (text: string) => DialectName | undefined
  /** The folder of the built page; absent in tests that need none. */
  readonly page?: string
  readonly access?: Access
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
    bodyLimit: deps.limits.body,
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
  await app.register(cors, {
    origin: [...(access.origins ?? [])],
    exposedHeaders: ['retry-after', 'content-location'],
    maxAge: 600,
  })
  await app.register(helmet, pagePolicy)
  await limitRuns(app, deps.limits.runsPerMinute)
  readJsonBodies(app)
  await describeApi(app, deps.version, access.tokens !== undefined)
  const surfaces = [
    serviceRoutes,
    agentRoutes,
    sessionsRoutes,
    sessionRoutes,
    historyRoutes,
    agUiRoutes,
    adkRoutes,
    studioRoutes,
    planRoutes,
  ]
  for (const routes of surfaces) await app.register(routes(deps))
  if (deps.page !== undefined) await app.register(pageRoutes({ page: deps.page }))
  return app
}

/** What answers without a token: liveness, and the page, which holds nothing until a token is given to it. */
function isOpen(path: string): boolean {
  return (
    path === '/' || path === '/health' || path === '/ready' || path.startsWith('/assets/') || path.startsWith('/s/')
  )
}
