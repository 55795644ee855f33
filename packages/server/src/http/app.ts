import cors from '@fastify/cors'
import { MillraceError } from '@millrace/core'
import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify'
import { recordingReads } from '../recording/recording-reads.ts'
import { adkSurface } from './adk/routes.ts'
import { adkWebSurface } from './adk-web/routes.ts'
import { admitRequests } from './admission.ts'
import { agUiSurface } from './ag-ui/routes.ts'
import { agentSurface } from './agent/routes.ts'
import { Allotments } from './allotments.ts'
import { type Access, guardAccess } from './doors/access.ts'
import { auditAccess } from './doors/audit-access.ts'
import { endWithProof } from './doors/end-with-proof.ts'
import { openIdentities } from './doors/identity.ts'
import { readJsonBodies } from './doors/json-body.ts'
import { answerUnmatched } from './doors/methods.ts'
import { sendProblem } from './doors/problem.ts'
import { logRequests } from './doors/request-log.ts'
import { measureRequests } from './doors/request-metrics.ts'
import { secureHeaders } from './doors/secure-headers.ts'
import { limitStarts } from './doors/start-limit.ts'
import { boundWholeReads } from './doors/whole-reads.ts'
import { everyone } from './everyone.ts'
import { identitySurface } from './identity/routes.ts'
import { type MemoryUse, memoryWatch } from './memory-watch.ts'
import { describeApi } from './openapi/openapi.ts'
import { operatorSurface } from './operator/routes.ts'
import { type AllSessions, type OwnSessions, ownSessions } from './own-sessions.ts'
import { pagePolicy, pageSurface, unknownPage } from './page/routes.ts'
import { planSurface } from './plan/routes.ts'
import { serverOptions } from './server-options.ts'
import { serviceSurface } from './service/routes.ts'
import { sessionSurface } from './session/routes.ts'
import { MinuteCounts, type OnRefused } from './share-counts.ts'
import { StorageShares } from './storage-shares.ts'
import { studioSurface } from './studio/routes.ts'
import { registerSurface, requireDeclarations, type Surface, type SurfaceDeps } from './surface.ts'

/** Every surface that is served. A new one is added here and nowhere else. */
const allSurfaces: readonly Surface[] = [
  serviceSurface,
  identitySurface,
  operatorSurface,
  agentSurface,
  sessionSurface,
  agUiSurface,
  adkSurface,
  adkWebSurface,
  studioSurface,
  planSurface,
  pageSurface,
]

export interface AppDeps
  extends Omit<SurfaceDeps, 'opened' | 'basePath' | 'identities' | 'everyone' | 'own' | 'trouble' | 'recordings'>,
    Omit<AllSessions, 'room'> {
  readonly access?: Access
  /** True once the server is closed: every further request is refused. */
  readonly stopped: () => boolean
  readonly basePath?: string
  readonly logger?: FastifyServerOptions['logger']
  /** Reads what the process takes; absent: new work is never refused for want of memory. */
  readonly memory?: () => MemoryUse
}

/**
 * The HTTP side as one Fastify app. It composes, and never listens, reads env or prints. Hooks that wait for nothing call
 * `next` instead of being async functions: a request passes a dozen of them, and each promise is another turn.
 */
export async function createApp(deps: AppDeps, surfaces: readonly Surface[] = allSurfaces): Promise<FastifyInstance> {
  const basePath = (deps.basePath ?? '').replace(/\/+$/, '')
  const app = Fastify(serverOptions(deps, basePath))
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
  const access = deps.access ?? {}
  requireDeclarations(app)
  // First, so that refusals have its headers, too.
  await secureHeaders(app, pagePolicy)
  logRequests(app)
  const measured = measureRequests(app, deps.metrics)
  app.addHook('onRequest', (_request, _reply, next) => {
    if (deps.stopped()) throw new MillraceError('unavailable', 'the server is shutting down', { retryAfter: 1 })
    next()
  })
  const identities = openIdentities(access, deps.now)
  guardAccess(app, access, identities, deps.now)
  const audited = auditAccess(app, deps)
  const { log, now, metrics } = deps
  const { shares } = deps.limits
  const refused: OnRefused = (share, by) => metrics.refused.inc({ share, by })
  const isShort = memoryWatch(deps.memory, now)
  const shared = log.allot === undefined ? undefined : new Allotments(log.allot, now)
  const room = new StorageShares({ log, shares, now, refused })
  answerUnmatched(app, deps.page === undefined ? undefined : await unknownPage(deps.page))
  await app.register(cors, {
    origin: [...(access.origins ?? [])],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: ['retry-after', 'content-location'],
    maxAge: 600,
  })
  // After CORS and the security headers, so that a page can read a refusal.
  admitRequests(app, { shares, now, refused, isShort, shared })
  limitStarts(app, new MinuteCounts('starts', shares.starts, refused, now, shared))
  boundWholeReads(app, deps.limits)
  readJsonBodies(app)
  await describeApi(app, deps.version, identities !== undefined, surfaces)
  const trouble = async (): Promise<string | undefined> => (isShort() ? 'memory is short' : log.trouble?.())
  const opened: SurfaceDeps['opened'] = (request, reply) => {
    measured(request, reply)
    audited(request, reply)
    endWithProof(request, reply, deps.now)
  }
  // Surfaces get the sessions of their caller, and nothing that reaches others.
  const { log: _log, engine: _engine, streams: _streams, views: _views, ...rest } = deps
  const own = ownOf({ ...deps, room }, identities !== undefined)
  const surfaceDeps: SurfaceDeps = {
    ...rest,
    recordings: recordingReads(deps.limits),
    opened,
    basePath,
    identities,
    everyone: everyone(deps, identities !== undefined),
    own,
    trouble,
  }
  for (const surface of surfaces) await registerSurface(app, surface, surfaceDeps)
  return app
}

/** How many users' sessions stay at hand between requests. */
const mostKept = 1000

/** The sessions of the user of a request. Where users need tokens, a request without one reaches no session at all. */
function ownOf(all: AllSessions, hasUsers: boolean): (request: FastifyRequest) => OwnSessions {
  const made = new Map<string | undefined, OwnSessions>()
  return ({ principal: user }) => {
    if (hasUsers && user === undefined)
      throw new MillraceError('unauthorized', 'send a bearer token in the Authorization header')
    const known = made.get(user)
    if (known !== undefined) return known
    if (made.size >= mostKept) made.clear()
    const own = ownSessions(all, user)
    made.set(user, own)
    return own
  }
}
