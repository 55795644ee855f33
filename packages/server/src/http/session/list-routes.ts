import { defined } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { userFor } from '../doors/access.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { validateBody } from '../doors/validate-body.ts'
import { listShape, objectShape, shapeOf } from '../openapi/answers.ts'
import { documented } from '../surface.ts'
import { removeSession } from './remove-session.ts'

const listQuery = z.object({
  agent: z.string().max(200).optional(),
  status: z.enum(['idle', 'running', 'done', 'failed', 'cancelled', 'interrupted']).optional(),
  search: z.string().max(200).optional().describe('Part of the title or id'),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  offset: z.coerce.number().int().min(0).default(0),
})
const createBody = z
  .object({
    id: z.string().min(1).max(200).optional(),
    agent: z.string().min(1).max(200).optional(),
    title: z.string().max(200).optional(),
  })
  .optional()
const renameBody = z.object({ title: z.string().max(200) })

/** The list of sessions, from whichever surface they were created. */
export const sessionsRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    type ById = { Params: { id: string } }

    app.get(
      '/sessions',
      documented({
        effect: 'read',
        summary: 'List sessions, newest first',
        query: listQuery,
        answer: 'A page of sessions, and how many there are in all',
        result: objectShape({ sessions: listShape('Session'), total: { type: 'integer' } }),
      }),
      async (request) => {
        const { limit, offset, agent, status, search } = validateBody(listQuery, request.query)
        return deps.own(request).log.list(defined({ limit, offset, agent, status, search }))
      },
    )
    app.post(
      '/sessions',
      documented({
        effect: 'write',
        summary: 'Create a session',
        body: createBody,
        answer: 'The session',
        result: shapeOf('Session'),
        status: 201,
      }),
      async (request, reply) => {
        const { id = deps.newId(), agent = planner(deps), title } = validateBody(createBody, request.body) ?? {}
        const session = await deps.own(request).log.create({ id, user: userFor(request), agent, ...defined({ title }) })
        request.about.session = id
        return reply.code(201).send(session)
      },
    )
    app.patch<ById>(
      '/sessions/:id',
      documented({
        effect: 'write',
        summary: 'Rename a session',
        body: renameBody,
        answer: 'The session',
        result: shapeOf('Session'),
      }),
      async (request) => {
        const { title } = validateBody(renameBody, request.body)
        const { id } = await sessionForRequest(deps, request, request.params.id)
        return deps.own(request).log.rename(id, title)
      },
    )
    app.delete<ById>(
      '/sessions/:id',
      documented({ effect: 'write', summary: 'Delete a session and its log', answer: 'Nothing', status: 204 }),
      async (request, reply) => {
        await removeSession(deps, request, await sessionForRequest(deps, request, request.params.id))
        return reply.code(204).send()
      },
    )
  }

/** Plan/execute clients create a session without naming an agent, and mean the planner (docs/wires/plan.md). */
function planner({ agents }: HttpDeps): string {
  return agents.names.includes('planner') ? 'planner' : agents.fallback
}
