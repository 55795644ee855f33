import { defined, MillraceError, type Recorded } from '@millrace/core'
import type { ReportAbout } from '@millrace/core/report'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { validateBody } from '../doors/validate-body.ts'
import { documented } from '../surface.ts'

const reportQuery = z.object({
  run: z.string().min(1).max(200).optional().describe('Only this run; absent: the whole session'),
})

/** What a browser that opens the report may do: show it. The document says the same of itself, for when it is a file. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; sandbox"

/** A session as one HTML document that can be handed over, printed and kept. */
export const reportRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    app.get<{ Params: { id: string } }>(
      '/sessions/:id/report',
      documented({
        effect: 'read',
        summary: 'The session, or one run of it, as one HTML document for readers without Millrace',
        query: reportQuery,
        answer: 'Answers, evidence, timelines, gaps, problems, feedback and figures; no script, nothing is loaded',
        type: 'text/html',
      }),
      async (request, reply) => {
        const { run } = validateBody(reportQuery, request.query)
        const session = await sessionForRequest(deps, request, request.params.id)
        const { views, log } = deps.own(request)
        if (run !== undefined && (await log.startOf(session.id, run)) === undefined)
          throw new MillraceError('not-found', `unknown run ${run}`)
        const { id, title, agent } = session
        const about: ReportAbout = { session: id, title, agent, ...defined({ user: request.principal, run }) }
        const { sessionReport } = await import('@millrace/core/report')
        const left = new AbortController()
        reply.raw.once('close', () => left.abort(new MillraceError('cancelled', 'the client has left')))
        const made = {
          view: 'report',
          entry: new URL('./report-worker.js', import.meta.url),
          work: about,
          here: (rows: readonly Recorded[]) => sessionReport(about, rows),
        }
        let json = ''
        const read = { session, at: undefined, user: session.user, signal: left.signal }
        for await (const piece of views.folded(made, read)) json += piece
        const name = id.replace(/[^\w.-]/g, '_').slice(0, 80)
        return reply
          .type('text/html; charset=utf-8')
          .header('content-security-policy', policy)
          .header('content-disposition', `attachment; filename="${name}.html"`)
          .send(JSON.parse(json) as string)
      },
    )
  }
