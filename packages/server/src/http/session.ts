import {
  adk,
  type EventLog,
  fold,
  MillraceError,
  printFrame,
  type Recorded,
  sseReader,
  transcript,
  withSeq,
} from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'

export interface SessionDeps {
  readonly log: EventLog
  readonly now: () => number
  readonly newId: () => string
}

/** What any session offers, whoever wrote it. */
export const sessionRoutes =
  ({ log, now, newId }: SessionDeps): FastifyPluginAsync =>
  async (app) => {
    app.addContentTypeParser('text/event-stream', { parseAs: 'string' }, (_request, body, done) => done(null, body))

    app.post<{ Body: string }>('/sessions/import', async (request, reply) => {
      const id = newId()
      const rows = recordedStream(request.body, id, now)
      if (rows.length === 0) throw new MillraceError('invalid', 'the stream holds no event')
      return reply.code(201).send(await log.restore({ id, user: 'local', agent: '' }, rows))
    })

    app.get('/sessions', async () => log.list({ user: 'local' }))

    app.get<{ Params: { id: string } }>('/sessions/:id/events', async (request, reply) => {
      const encoder = adk.encoder({ session: request.params.id })
      const rows = await log.read(request.params.id, { after: 0 })
      const text = rows.flatMap((row) => withSeq(encoder.push(row), row.seq).map(printFrame)).join('')
      return reply.type('text/event-stream; charset=utf-8').header('cache-control', 'no-store').send(text)
    })

    app.get<{ Params: { id: string } }>('/sessions/:id/views/transcript', async (request) =>
      fold(transcript, await log.read(request.params.id, { after: 0 })),
    )
  }

function recordedStream(text: string, run: string, now: () => number): readonly Recorded[] {
  const reader = sseReader()
  const decoder = adk.decoder({ run })
  const drafts = [
    ...reader.feed(text).flatMap((frame) => decoder.push(frame)),
    ...decoder.end(reader.open ? 'cut' : 'closed'),
  ]
  return drafts.map((draft, i) => ({ seq: i + 1, at: draft.at ?? now(), run: draft.run, event: draft.event }))
}
