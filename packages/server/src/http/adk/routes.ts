import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { documented, type Surface } from '../surface.ts'
import { adkAbsentRoutes } from './absent-routes.ts'
import { adkArtifactRoutes } from './artifact-routes.ts'
import { adkDevRoutes } from './dev-routes.ts'
import { adkEvalRunRoutes } from './eval-run-routes.ts'
import { adkEvalSetRoutes } from './eval-set-routes.ts'
import { adkLiveRoute } from './live-route.ts'
import { adkRunRoutes } from './run-routes.ts'
import { adkSessionRoutes } from './session-routes.ts'

/** Google ADK's API, as `adk api_server` offers it and an unmodified adk-web uses it (docs/wires/adk.md). */
const adkRoutes =
  (deps: HttpDeps & { readonly version: string }): FastifyPluginAsync =>
  async (app) => {
    app.get(
      '/list-apps',
      documented({ effect: 'read', summary: 'The agents', answer: 'Names', result: z.array(z.string()) }),
      async () => deps.agents.names,
    )
    app.get(
      '/version',
      documented({
        effect: 'read',
        summary: 'The version of this server',
        answer: 'The version',
        result: z.object({ version: z.string(), language: z.string(), language_version: z.string() }),
      }),
      async () => ({
        version: deps.version,
        language: 'typescript',
        language_version: 'ES2023',
      }),
    )
    await app.register(adkRunRoutes(deps))
    await app.register(adkSessionRoutes(deps))
    await app.register(adkArtifactRoutes(deps))
    await app.register(adkDevRoutes(deps))
    await app.register(adkEvalSetRoutes(deps))
    await app.register(adkEvalRunRoutes(deps))
    await app.register(adkAbsentRoutes(deps))
    await app.register(adkLiveRoute)
  }

export const adkSurface: Surface = {
  tag: 'ADK',
  about: 'Google ADK: run_sse, sessions, artifacts, and what adk-web calls',
  problemType: 'application/json',
  routes: adkRoutes,
}
