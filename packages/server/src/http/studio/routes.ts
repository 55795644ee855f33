import { MillraceError } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { loadSession } from '../../run/load-session.ts'
import type { HttpDeps } from '../deps.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { validateBody } from '../doors/validate-body.ts'
import { documented, type Surface } from '../surface.ts'
import { answersWith, typedAnswer } from './answer.ts'
import { projectRoutes } from './project-routes.ts'
import { streamRoutes } from './stream-routes.ts'
import { WebhookEvents } from './webhook-events.ts'

const resumeBody = z.object({ response: z.json() })

/** ADK Studio's API (SSE schema v2): a project is an agent. */
const studioRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    type ById = { Params: { id: string } }
    const webhooks = new WebhookEvents(app)
    await app.register(projectRoutes(deps, webhooks))
    await app.register(streamRoutes(deps, webhooks))

    app.delete<ById>(
      '/api/sessions/:id',
      documented({ effect: 'write', summary: 'Cancel the active run; the log stays', answer: 'Nothing', status: 204 }),
      async (request, reply) => {
        await deps.own(request).engine.cancel((await sessionForRequest(deps, request, request.params.id)).id)
        return reply.code(204).send()
      },
    )

    app.post<ById>(
      '/api/sessions/:id/resume',
      documented({
        effect: 'start',
        summary: 'Answer the open questions of a run, in words or as JSON',
        body: resumeBody,
        answer: 'The run that continues',
        result: z.object({ success: z.boolean(), node_id: z.string(), message: z.string(), run: z.string() }),
      }),
      async (request) => {
        const { response } = validateBody(resumeBody, request.body)
        const { log, engine, keyOf } = deps.own(request)
        const loaded = await loadSession(log, await sessionForRequest(deps, request, request.params.id))
        const { id: session, user, agent } = loaded.info
        const [first] = loaded.facts.open.values()
        if (first === undefined) throw new MillraceError('not-found', `session ${session} has no open question`)
        const answer = typeof response === 'string' ? typedAnswer(response) : response
        const input = { messages: [], resume: answersWith(loaded, answer) }
        const { run } = await engine.start({ session, user, agent, input, loaded })
        request.about.run = run
        webhooks.resumed(keyOf(session), loaded.info, response, deps.now())
        return { success: true, node_id: nodeNameOf(first.node), message: 'resumed', run }
      },
    )
  }

/** As the `interrupt` frame names it: without its path and its number. */
function nodeNameOf(node = ''): string {
  return node.slice(node.lastIndexOf('/') + 1).replace(/@\d+$/, '')
}

export const studioSurface: Surface = {
  tag: 'Studio',
  about: 'ADK Studio SSE v2',
  routes: studioRoutes,
}
