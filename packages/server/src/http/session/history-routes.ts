import { Readable } from 'node:stream'
import {
  type Dialect,
  type DialectName,
  detectFraming,
  dialectNames,
  exportSession,
  forkSession,
  importSession,
  MillraceError,
  ndjsonReader,
  type Recorded,
  sseReader,
} from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { userFor } from '../doors/access.ts'
import { refuse } from '../doors/problem.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { documented, validateBody } from '../doors/validate-body.ts'
import { shapeOf } from '../openapi/answers.ts'

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
  dialect: z.enum(dialectNames).optional().describe('For a recorded stream; absent: it is detected'),
  id: z.string().min(1).max(200).optional(),
  agent: z.string().max(200).optional(),
  title: z.string().max(200).optional(),
})

const importTypes = ['text/event-stream', 'application/x-ndjson', 'application/jsonl', 'text/plain']

/** A session of so many events is told whole: nothing is won by leaving tokens out. */
const short = 5000

/** History as a feature: a session as a file, a file as a session, and a copy up to any moment. */
export const historyRoutes =
  (
    deps: HttpDeps & {
      readonly dialects: Readonly<Record<DialectName, Dialect>>
      readonly detect: (text: string) => DialectName | undefined
    },
  ): FastifyPluginAsync =>
  async (app) => {
    const { log } = deps
    const doc = { tag: 'Session' } as const
    type ById = { Params: { id: string } }
    for (const type of importTypes) {
      app.addContentTypeParser(type, { parseAs: 'string', bodyLimit: deps.limits.importBody }, (_request, body, done) =>
        done(null, body),
      )
    }

    app.get<ById>(
      '/sessions/:id/log',
      documented({
        ...doc,
        summary: 'The session as JSONL',
        query: logQuery,
        answer: 'A header line, then one Recorded a line',
        type: 'application/x-ndjson',
      }),
      async (request, reply) => {
        const { brief } = validateBody(logQuery, request.query)
        const { id, events } = await sessionForRequest(deps, request, request.params.id)
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
        ...doc,
        summary: 'A new session that starts as a copy',
        body: forkBody,
        answer: 'The new session',
        result: shapeOf('Session'),
        status: 201,
      }),
      async (request, reply) => {
        const { at, id = deps.newId(), title } = validateBody(forkBody, request.body) ?? {}
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
          ...doc,
          summary: 'A session out of a JSONL export or a recorded stream of any dialect',
          query: importQuery,
          answer: 'The session',
          result: shapeOf('Session'),
          body: z.string().describe('JSONL, or the bytes of a stream'),
          takes: importTypes,
          status: 201,
        }),
      },
      async (request, reply) => {
        const { dialect, id = deps.newId(), agent, title } = validateBody(importQuery, request.query)
        if (typeof request.body !== 'string' || request.body.trim() === '')
          throw new MillraceError('invalid', 'the body is empty; send JSONL or an event stream as text')
        const user = userFor(request)
        request.about.session = id
        const named = { ...(agent === undefined ? {} : { agent }), ...(title === undefined ? {} : { title }) }
        const kind = dialect ?? deps.detect(request.body)
        if (kind === undefined)
          throw refuse(
            'unprocessable',
            'neither a Millrace export nor a stream of a dialect we know; say which with ?dialect=',
          )
        if (kind === 'millrace' && detectFraming(request.body) === 'lines') {
          const reader = ndjsonReader()
          const all = [...reader.feed(request.body), ...reader.end()]
          return reply.code(201).send(await importSession(log, all, { id, user, ...named }))
        }
        const rows = recordedRows(deps.dialects[kind], request.body, id, deps.now())
        if (rows.length === 0) throw refuse('unprocessable', 'the stream holds no event')
        const first = rows[0]?.event
        const by = first?.kind === 'run.started' ? first.agent.slice(0, 200) : ''
        return reply.code(201).send(await log.restore({ id, user, agent: by, ...named }, rows))
      },
    )
  }

/** A recorded stream as rows: the bytes are over, so what is missing at the end is a cut. */
function recordedRows(dialect: Dialect, text: string, run: string, now: number): readonly Recorded[] {
  const reader = sseReader()
  const decoder = dialect.decoder({ run })
  const drafts = [
    ...reader.feed(text).flatMap((frame) => decoder.push(frame)),
    ...decoder.end(reader.open ? 'cut' : 'closed'),
  ]
  return drafts.map((draft, i) => ({ seq: i + 1, at: draft.at ?? now, run: draft.run, event: draft.event }))
}

/** Many lines a write: one line a write makes 100,000 of them take three times as long. */
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
