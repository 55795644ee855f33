import type { FastifyPluginAsync } from 'fastify'
import type { HttpDeps } from '../deps.ts'
import { documented } from '../doors/validate-body.ts'
import { listOf, objectOf } from '../openapi/answers.ts'

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
        result: objectOf({ agents: listOf('Agent'), fallback: { type: 'string' } }),
      }),
      async () => ({
        agents: await Promise.all(agents.names.map((name) => agents.get(name)?.describe())),
        fallback: agents.fallback,
      }),
    )
  }
