import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import { MillraceError } from '@millrace/core'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { adkRoutes } from './adk/routes.ts'
import { agUiRoutes } from './ag-ui/routes.ts'
import { agentRoutes } from './agent/routes.ts'
import type { HttpDeps } from './deps.ts'
import { type Access, guardAccess } from './doors/access.ts'
import { readJsonBodies } from './doors/json-body.ts'
import { answerUnmatched } from './doors/methods.ts'
import { sendProblem } from './doors/problem.ts'
import { limitRuns } from './doors/rate-limit.ts'
import { logRequests } from './doors/request-log.ts'
import { measureRequests } from './doors/request-metrics.ts'
import { describeApi } from './openapi/openapi.ts'
import { pagePolicy, pageRoutes } from './page/routes.ts'
import { planRoutes } from './plan/routes.ts'
import { serverOptions } from './server-options.ts'
import { type ServiceDeps, serviceRoutes } from './service/routes.ts'
import { historyRoutes } from './session/history-routes.ts'
import { sessionsRoutes } from './session/list-routes.ts'
import { sessionRoutes } from './session/routes.ts'
import { studioRoutes } from './studio/routes.ts'

export interface AppDeps extends Omit<HttpDeps, 'opened'>, ServiceDeps {
  /** The folder of the built page; absent in tests that need none. */
  readonly page?: string
  readonly access?: Access
  /** True once the server closes: nothing is taken any more. */
  readonly stopped: () => boolean
  /** Where a proxy that strips nothing serves us, such as `/millrace`. */
  readonly basePath?: string
  readonly logger?: FastifyServerOptions['logger']
}

/** The HTTP side as one Fastify app: it composes, and never listens, reads env or prints. */
export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const basePath = (deps.basePath ?? '').replace(/\/+$/, '')
  const app = Fastify(serverOptions(deps, basePath))
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
  // `admit` validates, with every bad path in the answer; route schemas are documentation.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  const access = deps.access ?? {}
  logRequests(app)
  const opened = measureRequests(app, deps.metrics)
  app.addHook('onRequest', async () => {
    if (deps.stopped()) throw new MillraceError('unavailable', 'the server is shutting down', { retryAfter: 1 })
  })
  guardAccess(app, access, isOpen)
  answerUnmatched(app)
  await app.register(cors, {
    origin: [...(access.origins ?? [])],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['retry-after', 'content-location'],
    maxAge: 600,
  })
  await app.register(helmet, pagePolicy)
  await limitRuns(app, deps.limits.runsPerMinute)
  readJsonBodies(app)
  await describeApi(app, deps.version, access.tokens !== undefined, isOpen)
  const parts = { ...deps, opened }
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
  for (const routes of surfaces) await app.register(routes(parts))
  if (deps.page !== undefined) await app.register(pageRoutes({ page: deps.page, basePath }))
  return app
}

/** What answers without a token: liveness, what is documented in public anyway, and the page, which holds nothing yet. */
function isOpen(path: string): boolean {
  return openPaths.has(path) || path.startsWith('/assets/') || path.startsWith('/s/')
}

const openPaths: ReadonlySet<string> = new Set(['/', '/health', '/ready', '/docs', '/openapi.json'])
