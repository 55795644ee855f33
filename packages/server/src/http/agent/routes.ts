import type { FastifyPluginAsync } from 'fastify'
import type { HttpDeps } from '../deps.ts'
import { documented } from '../doors/validate-body.ts'
import { listShape, objectShape } from '../openapi/answers.ts'

/** The agents, as they describe themselves; a broken one says why. */
export const agentRoutes =
  ({ agents }: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    app.get(
      '/agents',
      documented({
        tag: 'Session',
        summary: 'The agents that can be run',
        answer: 'The agents, and who answers where none is named',
        result: objectShape({ agents: listShape('Agent'), fallback: { type: 'string' } }),
      }),
      async () => ({
        agents: await Promise.all(agents.names.map((name) => agents.get(name)?.describe())),
        fallback: agents.fallback,
      }),
    )
  }
