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
import { statusFields, statusQuery } from './status-query.ts'

const listQuery = z.object({
  agent: z.string().max(200).optional(),
  ...statusFields,
  search: z.string().max(200).optional().describe('Part of the title or id'),
  removed: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true`: only those that were deleted and can be restored; `createdAt` is when they were deleted'),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  offset: z.coerce.number().int().min(0).default(0),
})
const deleteQuery = z.object({
  undo: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true`: the session can be restored for ten minutes, also after a restart of the server'),
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
        const asked = validateBody(listQuery, request.query)
        const { limit, offset, agent, search, removed } = asked
        if (removed === 'true') {
          const sessions = await deps.own(request).log.removed(deps.now())
          return { sessions: sessions.slice(offset, offset + limit), total: sessions.length }
        }
        return deps.own(request).log.list({ ...defined({ limit, offset, agent, search }), ...statusQuery(asked) })
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
      documented({
        effect: 'write',
        summary: 'Delete a session and its log',
        query: deleteQuery,
        answer: 'Nothing',
        status: 204,
      }),
      async (request, reply) => {
        const { undo } = validateBody(deleteQuery, request.query)
        const session = await sessionForRequest(deps, request, request.params.id)
        await removeSession(deps, request, session, undo === 'true')
        return reply.code(204).send()
      },
    )
    app.post<ById>(
      '/sessions/:id/restore',
      documented({
        effect: 'write',
        summary: 'Bring back a session that was deleted with `undo=true` less than ten minutes ago',
        answer: 'The session',
        result: shapeOf('Session'),
      }),
      async (request) => {
        request.about.session = request.params.id
        return deps.own(request).log.bringBack(request.params.id, deps.now())
      },
    )
  }

/** Plan/execute clients create a session without naming an agent, and mean the planner (docs/wires/plan.md). */
function planner({ agents }: HttpDeps): string {
  return agents.names.includes('planner') ? 'planner' : agents.fallback
}
