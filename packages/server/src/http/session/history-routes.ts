import { Readable } from 'node:stream'
import { exportSession, forkSession } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { validateBody } from '../doors/validate-body.ts'
import { shapeOf } from '../openapi/answers.ts'
import { documented } from '../surface.ts'

const forkBody = z
  .object({
    at: z.number().int().min(0).optional().describe('Copy up to and including this seq; absent: all of it'),
    id: z.string().min(1).max(200).optional(),
    title: z.string().max(200).optional(),
  })
  .optional()
const logQuery = z.object({
  brief: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true`: tokens of messages that are there whole may be left out'),
})
/** A session of up to this many events is sent whole: leaving partials out would save little. */
const short = 5000

/** Export a session as a file, and fork a session at any seq. */
export const historyRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    type ById = { Params: { id: string } }

    app.get<ById>(
      '/sessions/:id/log',
      documented({
        effect: 'read',
        summary: 'The session as JSONL',
        query: logQuery,
        answer: 'A header line, then one Recorded per line',
        type: 'application/x-ndjson',
      }),
      async (request, reply) => {
        const { brief } = validateBody(logQuery, request.query)
        const { id, events } = await sessionForRequest(deps, request, request.params.id)
        const { log } = deps.own(request)
        const name = id.replace(/[^\w.-]/g, '_').slice(0, 80)
        return reply
          .type('application/x-ndjson; charset=utf-8')
          .header('content-disposition', `attachment; filename="${name}.jsonl"`)
          .send(Readable.from(lines(exportSession(log, id, { brief: brief === 'true' && events > short }))))
      },
    )

    app.post<ById>(
      '/sessions/:id/fork',
      documented({
        effect: 'write',
        share: 'forks',
        summary: 'A new session that begins as a copy of this one',
        body: forkBody,
        answer: 'The new session',
        result: shapeOf('Session'),
        status: 201,
      }),
      async (request, reply) => {
        const { at, id = deps.newId(), title } = validateBody(forkBody, request.body) ?? {}
        const { log } = deps.own(request)
        const source = await sessionForRequest(deps, request, request.params.id)
        const fork = await forkSession(log, source.id, at ?? source.lastSeq, id)
        return reply.code(201).send(title === undefined ? fork : await log.rename(fork.id, title))
      },
    )
  }

/** Joins many lines into one write: with one write per line, 100,000 lines take three times as long. */
async function* lines(source: AsyncIterable<string>): AsyncGenerator<string> {
  let held = ''
  for await (const line of source) {
    held += `${line}\n`
    if (held.length < 256 * 1024) continue
    yield held
    held = ''
  }
  if (held !== '') yield held
}
