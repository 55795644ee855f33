import { defined, dialectNames, type ImportAs, MillraceError } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { recordingReads } from '../../recording/recording-reads.ts'
import type { HttpDeps } from '../deps.ts'
import { userFor } from '../doors/access.ts'
import { refuse } from '../doors/problem.ts'
import { validateBody } from '../doors/validate-body.ts'
import { shapeOf } from '../openapi/answers.ts'
import { documented } from '../surface.ts'

const importQuery = z.object({
  dialect: z.enum(dialectNames).optional().describe('The dialect of a recorded stream; absent: it is detected'),
  id: z.string().min(1).max(200).optional(),
  agent: z.string().max(200).optional(),
  title: z.string().max(200).optional(),
})

const importTypes = ['text/event-stream', 'application/x-ndjson', 'application/jsonl', 'text/plain', 'application/json']

/** Import a file as a session. The body is read as it comes, and a long one in a thread. */
export const importRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    app.removeContentTypeParser('application/json')
    for (const type of importTypes) app.addContentTypeParser(type, (_request, body, done) => done(null, body))
    const reads = recordingReads(deps.limits)

    app.post(
      '/sessions/import',
      documented({
        effect: 'write',
        share: 'imports',
        summary:
          'Make a session from an export or a recording of any dialect: SSE, JSONL, a JSON array of events, an ADK session',
        query: importQuery,
        answer: 'The session',
        result: shapeOf('Session'),
        body: z.string().describe('The file as it is'),
        takes: importTypes,
        status: 201,
      }),
      async (request, reply) => {
        const { dialect: from, id = deps.newId(), agent, title } = validateBody(importQuery, request.query)
        const user = userFor(request)
        request.about.session = id
        const left = new AbortController()
        reply.raw.once('close', () => left.abort(new MillraceError('cancelled', 'the client has left')))
        const as: ImportAs = { id, user, ...defined({ agent, title }) }
        const { log } = deps.own(request)
        try {
          const session = await reads.read(
            bounded((request.body ?? []) as AsyncIterable<Uint8Array>, deps.limits.importBody),
            { from, run: id, now: deps.now() },
            { user: request.principal ?? request.ip, signal: left.signal },
            ({ about: { dialect: _, agent: named, ...about }, pages }) =>
              log.restorePages({ agent: named.slice(0, 200), ...about, ...as }, pages),
          )
          return reply.code(201).send(session)
        } catch (error) {
          throw unreadable(error)
        }
      },
    )
  }

async function* bounded(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  most: number,
): AsyncGenerator<Uint8Array, void> {
  let size = 0
  for await (const bytes of body) {
    size += bytes.length
    if (size > most) throw refuse('too-large', `an import has at most ${most} bytes; split it`)
    yield bytes
  }
}

/** A file that cannot be read is a 422 with the reason, one that is too large a 413. Nothing was written. */
function unreadable(error: unknown): unknown {
  if (!(error instanceof MillraceError) || error.facts.http !== undefined) return error
  if (error.code === 'limit' && error.facts.retryAfter === undefined)
    return refuse('too-large', error.message, error.facts)
  return error.code === 'invalid' ? refuse('unprocessable', error.message, error.facts) : error
}
