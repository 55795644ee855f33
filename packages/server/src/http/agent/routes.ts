import type { FastifyPluginAsync } from 'fastify'
import type { HttpDeps } from '../deps.ts'
import { listShape, objectShape } from '../openapi/answers.ts'
import { documented, type Surface } from '../surface.ts'

/** The agents, as they describe themselves; one that failed to load gives the reason. */
const agentRoutes =
  ({ agents }: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    app.get(
      '/agents',
      documented({
        effect: 'read',
        summary: 'The agents that can be run',
        answer: 'The agents, and the one that runs when a request names none',
        result: objectShape({ agents: listShape('Agent'), fallback: { type: 'string' } }),
      }),
      async () => ({
        agents: await Promise.all(agents.names.map((name) => agents.get(name)?.describe())),
        fallback: agents.fallback,
      }),
    )
  }

export const agentSurface: Surface = {
  tag: 'Agent',
  about: 'The agents that can be run',
  routes: agentRoutes,
}
