import { defined } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { validateBody } from '../doors/validate-body.ts'
import { documented, type Surface, type SurfaceDeps } from '../surface.ts'

const page = {
  limit: z.coerce.number().int().min(1).max(500).default(100),
  offset: z.coerce.number().int().min(0).default(0),
}
const usersQuery = z.object(page)
const sessionsQuery = z.object({ ...page, user: z.string().max(200).optional().describe('Of this user only') })

const userFigures = z.object({
  user: z.string(),
  sessions: z.int(),
  events: z.int(),
  updatedAt: z.number().describe('The newest event of any of the sessions, in ms'),
})
const sessionFigures = z.object({
  id: z.string(),
  user: z.string(),
  agent: z.string(),
  status: z.string(),
  events: z.int(),
  runs: z.int(),
  createdAt: z.number(),
  updatedAt: z.number(),
})

/** For operators: figures and lists over all users. What users wrote, titles included, is never shown. */
const operatorRoutes =
  ({ everyone, audit, now }: SurfaceDeps): FastifyPluginAsync =>
  async (app) => {
    app.get(
      '/operator/users',
      documented({
        effect: 'read',
        operator: true,
        summary: 'Users and how much they have, in alphabetical order',
        query: usersQuery,
        answer: 'A page of users, and how many there are in all',
        result: z.object({ users: z.array(userFigures), total: z.int() }),
      }),
      async (request) => everyone.users(validateBody(usersQuery, request.query)),
    )
    app.get(
      '/operator/sessions',
      documented({
        effect: 'read',
        operator: true,
        summary: 'Sessions of all users, newest first, without their titles',
        query: sessionsQuery,
        answer: 'A page of sessions, and how many there are in all',
        result: z.object({ sessions: z.array(sessionFigures), total: z.int() }),
      }),
      async (request) => {
        const { limit, offset, user } = validateBody(sessionsQuery, request.query)
        return everyone.sessions({ limit, offset, ...defined({ user }) })
      },
    )
    app.delete<{ Params: { user: string } }>(
      '/operator/users/:user',
      documented({
        effect: 'write',
        operator: true,
        summary: 'Delete everything of a user: sessions, shared values, evaluation sets',
        answer: 'How many sessions were deleted',
        result: z.object({ sessions: z.int() }),
      }),
      async (request) => {
        const { user: owner } = request.params
        const sessions = await everyone.deleteUser(owner)
        const { principal: user } = request
        audit({ at: now(), action: 'user.delete', owner, ...defined({ user }) })
        return { sessions }
      },
    )
  }

export const operatorSurface: Surface = {
  tag: 'Operator',
  about: 'Figures and lists over all users, for operators',
  routes: operatorRoutes,
}
