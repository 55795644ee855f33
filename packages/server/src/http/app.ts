import { MillraceError } from '@millrace/core'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { pageRoutes } from './page.ts'
import { sendProblem } from './problem.ts'
import { serviceRoutes } from './service.ts'
import { type SessionDeps, sessionRoutes } from './session.ts'

export interface AppDeps extends SessionDeps {
  readonly version: string
  /** The folder of the built page; absent in tests that need none. */
  readonly page?: string
  readonly logger?: FastifyServerOptions['logger']
}

/** The HTTP side as one Fastify app: it composes, and never listens, reads env or prints. */
export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const app = Fastify({ logger: deps.logger ?? false, forceCloseConnections: true })
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      new MillraceError('not-found', `no route ${request.method} ${request.url.split('?')[0]}`),
      request,
      reply,
    ),
  )
  await app.register(serviceRoutes(deps))
  await app.register(sessionRoutes(deps))
  if (deps.page !== undefined) await app.register(pageRoutes({ page: deps.page }))
  return app
}
