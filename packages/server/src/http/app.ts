import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import { MillraceError } from '@millrace/core'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { adkSurface } from './adk/routes.ts'
import { adkWebSurface } from './adk-web/routes.ts'
import { agUiSurface } from './ag-ui/routes.ts'
import { agentSurface } from './agent/routes.ts'
import { type Access, guardAccess } from './doors/access.ts'
import { readJsonBodies } from './doors/json-body.ts'
import { answerUnmatched } from './doors/methods.ts'
import { sendProblem } from './doors/problem.ts'
import { limitRuns } from './doors/rate-limit.ts'
import { logRequests } from './doors/request-log.ts'
import { measureRequests } from './doors/request-metrics.ts'
import { boundWholeReads } from './doors/whole-reads.ts'
import { describeApi } from './openapi/openapi.ts'
import { pagePolicy, pageSurface } from './page/routes.ts'
import { planSurface } from './plan/routes.ts'
import { serverOptions } from './server-options.ts'
import { serviceSurface } from './service/routes.ts'
import { sessionSurface } from './session/routes.ts'
import { studioSurface } from './studio/routes.ts'
import { registerSurface, requireDeclarations, type Surface, type SurfaceDeps } from './surface.ts'

/** Every surface that is served. A new one is added here and nowhere else. */
const allSurfaces: readonly Surface[] = [
  serviceSurface,
  agentSurface,
  sessionSurface,
  agUiSurface,
  adkSurface,
  adkWebSurface,
  studioSurface,
  planSurface,
  pageSurface,
]

export interface AppDeps extends Omit<SurfaceDeps, 'opened' | 'basePath'> {
  readonly access?: Access
  /** True once the server is closed: every further request is refused. */
  readonly stopped: () => boolean
  readonly basePath?: string
  readonly logger?: FastifyServerOptions['logger']
}

/** The HTTP side as one Fastify app. It composes, and never listens, reads env or prints. */
export async function createApp(deps: AppDeps, surfaces: readonly Surface[] = allSurfaces): Promise<FastifyInstance> {
  const basePath = (deps.basePath ?? '').replace(/\/+$/, '')
  const app = Fastify(serverOptions(deps, basePath))
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
  // `validateBody` validates and lists every bad path; route schemas are documentation.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  const access = deps.access ?? {}
  requireDeclarations(app)
  logRequests(app)
  const opened = measureRequests(app, deps.metrics)
  app.addHook('onRequest', async () => {
    if (deps.stopped()) throw new MillraceError('unavailable', 'the server is shutting down', { retryAfter: 1 })
  })
  guardAccess(app, access)
  answerUnmatched(app)
  await app.register(cors, {
    origin: [...(access.origins ?? [])],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['retry-after', 'content-location'],
    maxAge: 600,
  })
  await app.register(helmet, pagePolicy)
  await limitRuns(app, deps.limits.runsPerMinute)
  boundWholeReads(app, deps.limits)
  readJsonBodies(app)
  await describeApi(app, deps.version, access.tokens !== undefined, surfaces)
  const surfaceDeps: SurfaceDeps = { ...deps, opened, basePath }
  for (const surface of surfaces) await registerSurface(app, surface, surfaceDeps)
  return app
}
