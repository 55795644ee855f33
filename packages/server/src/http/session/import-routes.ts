import { defined, dialectNames, type ImportAs } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { recordingReading } from '../../recording/read-recording.ts'
import type { HttpDeps } from '../deps.ts'
import { userFor } from '../doors/access.ts'
import { validateBody } from '../doors/validate-body.ts'
import { shapeOf } from '../openapi/answers.ts'
import { documented } from '../surface.ts'
import { readImportBody, takeBodiesUnread } from './import-body.ts'

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
    takeBodiesUnread(app, importTypes)

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
        const as: ImportAs = { id, user, ...defined({ agent, title }) }
        const { log } = deps.own(request)
        const reading = recordingReading({ from, run: id, now: deps.now() })
        const session = await readImportBody(deps, request, reply, reading, ({ about, pages }) => {
          const { dialect: _, agent: named, ...rest } = about
          return log.restorePages({ agent: named.slice(0, 200), ...rest, ...as }, pages)
        })
        return reply.code(201).send(session)
      },
    )
  }
