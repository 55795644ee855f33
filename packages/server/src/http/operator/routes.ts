import { Readable } from 'node:stream'
import { defined, MillraceError } from '@millrace/core'
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
  cutOff: z.literal(true).optional(),
  events: z.int(),
  runs: z.int(),
  createdAt: z.number(),
  updatedAt: z.number(),
})

/** For operators: figures and lists over all users. What users wrote, titles included, is shown to those only who may read it. */
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
    app.get<{ Params: { user: string; id: string } }>(
      '/operator/users/:user/sessions/:id/log',
      documented({
        effect: 'read',
        operator: true,
        summary: 'A session of a user as JSONL, for operators that may read contents',
        answer: 'A header line, then one Recorded per line',
        type: 'application/x-ndjson',
      }),
      async (request, reply) => {
        const { user: owner, id: session } = request.params
        const { principal: user, identity } = request
        if (identity !== undefined && identity.readsContents !== true)
          throw new MillraceError(
            'forbidden',
            'this operator may not read what is in sessions; grant it with --operator-contents',
          )
        const lines = await everyone.exported(owner, session)
        audit({ at: now(), action: 'contents.read', owner, session, ...defined({ user }) })
        return reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(withLineEnds(lines)))
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

async function* withLineEnds(lines: AsyncIterable<string>): AsyncGenerator<string, void> {
  for await (const line of lines) yield `${line}\n`
}

export const operatorSurface: Surface = {
  tag: 'Operator',
  about: 'Figures and lists over all users, for operators',
  routes: operatorRoutes,
}
