import { defined, dialectNames, MillraceError, type RunInput, type ViewName, views } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { userFor } from '../doors/access.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { validateBody } from '../doors/validate-body.ts'
import type { OwnLog } from '../own-sessions.ts'
import { boundInput, openingTitle, runInput } from '../run-input.ts'
import { cursorOf, serveStream } from '../stream.ts'
import { documented, type Surface } from '../surface.ts'
import { changeRoutes } from './change-routes.ts'
import { feedbackRoutes } from './feedback-routes.ts'
import { historyRoutes } from './history-routes.ts'
import { importRoutes } from './import-routes.ts'
import { sessionsRoutes } from './list-routes.ts'
import { reportRoutes } from './report-routes.ts'
import { searchRoutes } from './search-routes.ts'
import { sendPieces } from './send-pieces.ts'

const eventsQuery = z.object({
  dialect: z
    .enum([...dialectNames, 'adk-whole', 'adk-authors', 'ag-ui-0', 'ag-ui-0-custom', 'studio-delta'])
    .default('millrace')
    .describe(
      'The dialect of the stream; `adk-whole` is `adk` without partials and specialists, `adk-authors` only without partials, `ag-ui-0` is AG-UI before 1.0, `ag-ui-0-custom` the same with questions only as `CUSTOM on_interrupt`, `studio-delta` is `studio` for clients that append chunks',
    ),
  run: z.string().min(1).max(200).optional().describe('Only this run; the stream ends with it'),
  after: z.string().optional().describe('Resume after this seq; `Last-Event-ID` wins'),
  from: z.enum(['start', 'live']).default('start').describe('`live` joins at the end, with the dialect’s prelude'),
  until: z.enum(['idle']).optional().describe('`idle`: the stream ends when all was sent and no run is active'),
  disconnect: z
    .enum(['continue', 'cancel'])
    .default('continue')
    .describe('`cancel`: the run ends when this reader leaves'),
})
const atQuery = z.object({
  at: z.coerce.number().int().min(0).optional().describe('The seq; absent: the end'),
})
const startBody = z.object({
  agent: z.string().min(1).max(200).optional(),
  run: z.string().min(1).max(200).optional(),
  input: runInput,
})
const cancelBody = z.object({ run: z.string().max(200).optional() }).optional()

/** What every session offers, whichever surface created it: streams, runs, state and views. */
const sessionRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    type ById = { Params: { id: string } }

    app.get<ById>(
      '/sessions/:id/events',
      documented({
        // With `disconnect=cancel` a reader that leaves cancels the run.
        effect: 'write',
        summary: 'Join or re-join a session in any dialect',
        query: eventsQuery,
        answer: 'Frames; `id` is the seq',
        stream: true,
      }),
      async (request, reply) => {
        const { dialect, run, from, until, disconnect } = validateBody(eventsQuery, request.query)
        const after = cursorOf(request)?.seq
        // A client may connect to a thread that it has not begun. Such a session is idle, and all that it has was sent.
        const { log } = deps.own(request)
        if (until === 'idle' && (await log.get(request.params.id)) === undefined)
          return reply.type('text/event-stream').send(': idle\n\n')
        const session = await sessionForRequest(deps, request, request.params.id)
        if (run !== undefined && (await isOver(log, session.id, run, after ?? 0))) return reply.code(204).send()
        await serveStream(deps, request, reply, {
          session: session.id,
          dialect,
          from,
          // A HEAD request gets no stream and so never leaves one.
          cancelOnDisconnect: disconnect === 'cancel' && request.method === 'GET',
          ...defined({ run, after, until }),
        })
        return reply
      },
    )

    app.post<ById>(
      '/sessions/:id/runs',
      documented({
        effect: 'start',
        summary: 'Start a run; follow it with /events',
        body: startBody,
        answer: 'The run and the seq it starts at',
        result: z.object({ run: z.string(), seq: z.int() }),
        status: 201,
      }),
      async (request, reply) => {
        const { agent, run, input } = validateBody(startBody, request.body)
        boundInput(deps.limits, input as RunInput)
        const { log, engine } = deps.own(request)
        const session = await log.get(request.params.id)
        const name = agent ?? session?.agent ?? deps.agents.fallback
        if (session === undefined) {
          const title = openingTitle(input as RunInput)
          await log.create({ id: request.params.id, user: userFor(request), agent: name, title })
        }
        const { run: made, seq } = await engine.start({
          session: request.params.id,
          user: session?.user ?? userFor(request),
          agent: name,
          input: input as RunInput,
          ...defined({ run }),
        })
        request.about = { session: request.params.id, run: made }
        return reply.code(201).send({ run: made, seq })
      },
    )

    app.post<ById>(
      '/sessions/:id/cancel',
      documented({
        effect: 'write',
        share: 'none',
        summary: 'Cancel the active run',
        body: cancelBody,
        answer: 'Whether a run was cancelled',
        result: z.object({ cancelled: z.boolean() }),
      }),
      async (request) => {
        const { run } = validateBody(cancelBody, request.body) ?? {}
        const session = await sessionForRequest(deps, request, request.params.id)
        return { cancelled: await deps.own(request).engine.cancel(session.id, run) }
      },
    )

    app.get<ById>(
      '/sessions/:id/state',
      documented({
        effect: 'read',
        summary: 'The state at any seq',
        query: atQuery,
        answer: 'The state',
        result: z.object({ seq: z.int(), state: z.record(z.string(), z.unknown()) }),
      }),
      async (request, reply) => {
        const { at } = validateBody(atQuery, request.query)
        const session = await sessionForRequest(deps, request, request.params.id)
        const { views: own } = deps.own(request)
        return sendPieces(reply, (signal) => own.state({ session, at, user: session.user, signal }))
      },
    )

    app.get<{ Params: { id: string; view: string } }>(
      '/sessions/:id/views/:view',
      documented({
        effect: 'read',
        summary: `A view: ${Object.keys(views).join(', ')}`,
        query: atQuery,
        answer: 'The view as JSON',
        result: { type: 'object' },
      }),
      async (request, reply) => {
        const { at } = validateBody(atQuery, request.query)
        const { view } = request.params
        if (!isViewName(view)) throw new MillraceError('not-found', `unknown view ${view}`)
        const session = await sessionForRequest(deps, request, request.params.id)
        const { views: own } = deps.own(request)
        return sendPieces(reply, (signal) => own.view(view, { session, at, user: session.user, signal }))
      },
    )
  }

function isViewName(name: string): name is ViewName {
  return Object.hasOwn(views, name)
}

/** Whether the reader has had the end of the run: 204 makes a browser's EventSource stop reconnecting. */
async function isOver(log: OwnLog, session: string, run: string, after: number): Promise<boolean> {
  if (after === 0) return false
  const last = (await log.read(session, { after: after - 1, limit: 1 }))[0]
  return last?.seq === after && last.run === run && last.event.kind === 'run.finished'
}

export const sessionSurface: Surface = {
  tag: 'Session',
  about: 'Any session: re-join, cancel, fork, state, views, feedback, report, log',
  routes: (deps) => async (app) => {
    const all = [
      sessionsRoutes,
      searchRoutes,
      sessionRoutes,
      feedbackRoutes,
      historyRoutes,
      changeRoutes,
      reportRoutes,
      importRoutes,
    ]
    for (const routes of all) await app.register(routes(deps))
  },
}
