import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type DialectName,
  defined,
  detectFraming,
  dialectNames,
  exportSession,
  forkSession,
  type ImportAs,
  MillraceError,
  type SessionInfo,
  wholeRecording,
} from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { userFor } from '../doors/access.ts'
import { refuse } from '../doors/problem.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { validateBody } from '../doors/validate-body.ts'
import { shapeOf } from '../openapi/answers.ts'
import type { OwnLog } from '../own-sessions.ts'
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
const importQuery = z.object({
  dialect: z.enum(dialectNames).optional().describe('The dialect of a recorded stream; absent: it is detected'),
  id: z.string().min(1).max(200).optional(),
  agent: z.string().max(200).optional(),
  title: z.string().max(200).optional(),
})

const importTypes = ['text/event-stream', 'application/x-ndjson', 'application/jsonl', 'text/plain']

/** Characters. A document is parsed at once, and nothing else is answered meanwhile. */
const longestDocument = 16 * 1024 * 1024

/** A session of up to this many events is sent whole: leaving partials out would save little. */
const short = 5000

/** Export a session as a file, import a file as a session, and fork a session at any seq. */
export const historyRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    type ById = { Params: { id: string } }
    for (const type of importTypes) {
      app.addContentTypeParser(type, { parseAs: 'string', bodyLimit: deps.limits.importBody }, (_request, body, done) =>
        done(null, body),
      )
    }

    const imported = async (
      log: OwnLog,
      text: string,
      as: ImportAs,
      from: DialectName | undefined,
    ): Promise<SessionInfo> => {
      if (text.length > longestDocument && detectFraming(text) === 'document')
        throw refuse('too-large', 'a JSON document of more than 16 MB is not imported; send one event a line')
      const options = { run: as.id, now: () => deps.now(), pause: nextTurn, ...defined({ from }) }
      const { agent, title, forkOf, rows } = await wholeRecording(text, options)
      return log.restore({ agent: agent.slice(0, 200), ...defined({ title, forkOf }), ...as }, rows)
    }

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

    app.post(
      '/sessions/import',
      {
        bodyLimit: deps.limits.importBody,
        ...documented({
          effect: 'write',
          share: 'imports',
          summary:
            'Make a session from an export or a recording of any dialect: SSE, JSONL, a JSON array of events, an ADK session',
          query: importQuery,
          answer: 'The session',
          result: shapeOf('Session'),
          body: z.string().describe('The file as it is'),
          takes: [...importTypes, 'application/json'],
          status: 201,
        }),
      },
      async (request, reply) => {
        const { dialect, id = deps.newId(), agent, title } = validateBody(importQuery, request.query)
        // A JSON body comes parsed, and is printed again for the importer.
        const text = typeof request.body === 'string' ? request.body : JSON.stringify(request.body ?? '')
        if (text.trim() === '' || text === '""')
          throw new MillraceError('invalid', 'the body is empty; send JSONL, JSON or an event stream')
        const user = userFor(request)
        request.about.session = id
        try {
          const as = { id, user, ...defined({ agent, title }) }
          return reply.code(201).send(await imported(deps.own(request).log, text, as, dialect))
        } catch (error) {
          throw unreadable(error)
        }
      },
    )
  }

/** A file that cannot be read is a 422 with the reason, one that is too large a 413. Nothing was written. */
function unreadable(error: unknown): unknown {
  if (!(error instanceof MillraceError)) return error
  if (error.code === 'limit') return refuse('too-large', error.message, error.facts)
  return error.code === 'invalid' ? refuse('unprocessable', error.message, error.facts) : error
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
