import { defined, type FoundKind, MillraceError } from '@millrace/core'
import { foundKinds } from '@millrace/core/store'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { validateBody } from '../doors/validate-body.ts'
import { shapeOf } from '../openapi/answers.ts'
import { documented } from '../surface.ts'
import { statusFields, statusQuery } from './status-query.ts'

const time = z.string().max(40)
const searchQuery = z.object({
  q: z
    .string()
    .max(400)
    .describe('The words. All of them must be in one text; of the last one the beginning is enough'),
  kind: z.enum(foundKinds as readonly [FoundKind, ...FoundKind[]]).optional(),
  agent: z.string().max(200).optional().describe('Only sessions with this agent'),
  ...statusFields,
  from: time.optional().describe('Not before this time: ISO 8601, or milliseconds'),
  to: time.optional().describe('Before this time: ISO 8601, or milliseconds'),
  order: z.enum(['best', 'newest']).default('best'),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  cursor: z.string().max(2000).optional().describe('The `next` of the page before'),
})

/** Search over everything in the sessions of the caller. */
export const searchRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    app.get(
      '/search',
      documented({
        effect: 'read',
        summary: 'Find messages, tool calls, keys of the state, errors, agents and plans in all sessions',
        query: searchQuery,
        answer: 'A page of what was found, and the sessions it is in',
        result: shapeOf('FoundPage'),
      }),
      async (request) => {
        const { q, from, to, status, cutOff, ...rest } = validateBody(searchQuery, request.query)
        const times = { from: timeOf('from', from), to: timeOf('to', to) }
        return deps
          .own(request)
          .log.find({ text: q, ...defined({ ...rest, ...times }), ...statusQuery({ status, cutOff }) })
      },
    )
  }

function timeOf(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const at = /^\d{9,}$/.test(text) ? Number(text) : Date.parse(text)
  if (Number.isFinite(at)) return at
  throw new MillraceError('invalid', `${field} must be a time in ISO 8601 or in milliseconds, such as 2026-11-16`, {
    path: field,
  })
}
