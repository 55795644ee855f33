import { defined, type InputMessage, MillraceError, type RunInput, type SessionInfo } from '@millrace/core'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type LoadedSession, loadSession } from '../../run/load-session.ts'
import type { HttpDeps } from '../deps.ts'
import { userFor } from '../doors/access.ts'
import { rejoin } from '../doors/rejoin.ts'
import { validateBody } from '../doors/validate-body.ts'
import type { OwnSessions } from '../own-sessions.ts'
import { titleFrom } from '../run-input.ts'
import { cancelsOnDisconnect, serveRun, serveStream } from '../stream.ts'
import { documented } from '../surface.ts'
import { answersWith, typedAnswer } from './answer.ts'
import { projectNamed } from './project-routes.ts'
import type { WebhookEvents } from './webhook-events.ts'

const streamInput = z.looseObject({
  input: z.string().min(1, 'input is required').max(100_000).describe('The text of the user'),
  session_id: z.string().min(1).max(200).optional().describe('Continue this session'),
})
const streamOptions = z.looseObject({
  after: z.string().optional().describe('Re-join after this id and start nothing; `Last-Event-ID` wins'),
  chunks: z
    .enum(['text', 'delta'])
    .default('text')
    .describe('A `chunk` is the text of its message so far, or with `delta` what the text grew by'),
  binary_path: z
    .string()
    .optional()
    .describe('Sent by ADK Studio’s page, which cannot answer a question before its stream has ended: it ends there'),
})
const streamQuery = streamInput.extend(streamOptions.shape).extend({
  run: z
    .string()
    .regex(/^[\w.~-]{1,200}$/, 'a run id has letters, digits and . _ ~ - only')
    .optional()
    .describe('The id of the run: the same request sent again re-joins it, even before the first event'),
})

interface Asked {
  readonly input: string
  readonly session_id?: string | undefined
  readonly run?: string | undefined
  readonly chunks: 'text' | 'delta'
  readonly binary_path?: string | undefined
}

/** Runs of a project as ADK Studio's page streams them. The stream stays open while a run waits for a person. */
export const streamRoutes =
  (deps: HttpDeps, webhooks: WebhookEvents): FastifyPluginAsync =>
  async (app) => {
    type ById = { Params: { id: string } }

    const start = async (request: FastifyRequest<ById>, reply: FastifyReply, asked: Asked) => {
      const { input, session_id: wanted, run } = asked
      const { name } = projectNamed(deps, request.params.id)
      const id = wanted ?? run ?? deps.newId()
      const info = await sessionFor(deps, request, { id, agent: name, title: titleFrom(input) })
      const { log, keyOf } = deps.own(request)
      const loaded = await loadSession(log, info)
      webhooks.reads(keyOf(info.id), asked.binary_path !== undefined)
      const requested = {
        session: info.id,
        user: info.user,
        agent: name,
        input: runInput(loaded, input, deps.newId),
        loaded,
        // Where the request names no session, a reconnect finds it by the run, which has the same id.
        ...defined({ run: run ?? (wanted === undefined ? id : undefined) }),
      }
      await serveRun(deps, request, reply, requested, wireOf(asked))
    }
    /** A client sends the same request again after every cut: only the first one starts a run. */
    const startOnce = async (request: FastifyRequest<ById>, reply: FastifyReply, asked: Asked) => {
      const { name: agent } = projectNamed(deps, request.params.id)
      const meant = { agent, session: asked.session_id, run: asked.run ?? (await goingOn(deps.own(request), asked)) }
      /** Returns whether it answered, and not the reply, because awaiting a reply waits for its end. */
      const again = async (): Promise<boolean> => {
        const place = await rejoin(deps, request, meant)
        if (place === 'over') void reply.code(204).send()
        else if (place !== undefined) {
          const cancelOnDisconnect = cancelsOnDisconnect(deps, request)
          await serveStream(deps, request, reply, { ...place, ...wireOf(asked), cancelOnDisconnect })
        }
        return place !== undefined
      }
      if (await again()) return reply
      if (asked.input === goesOn) return reply.code(204).send()
      try {
        await start(request, reply, asked)
      } catch (error) {
        // The same request came twice at the same time, and the other one has started the run.
        const started = error instanceof MillraceError && error.code === 'conflict'
        if (!started || !(await again())) throw error
      }
      return reply
    }

    const doc = {
      effect: 'start',
      summary: 'Run a project, stream its traces',
      answer: 'Studio SSE v2; the id is `<run>:<seq>`',
      stream: true,
    } as const
    app.get<ById>(
      '/api/projects/:id/stream',
      // A HEAD request would start a run and discard its output.
      { exposeHeadRoute: false, ...documented({ ...doc, query: streamQuery }) },
      async (request, reply) => startOnce(request, reply, validateBody(streamQuery, request.query)),
    )
    app.post<ById>(
      '/api/projects/:id/stream',
      documented({ ...doc, body: streamInput, query: streamOptions }),
      async (request, reply) => {
        const options = validateBody(streamOptions, request.query)
        const { input, session_id } = validateBody(streamInput, request.body)
        return startOnce(request, reply, { ...options, input, session_id })
      },
    )
  }

/** What ADK Studio's page sends in place of an input when a report made it open a stream. It starts nothing. */
const goesOn = '__webhook__'

/** The run that such a request reads: the latest of its session. */
async function goingOn({ log }: OwnSessions, { input, session_id }: Asked): Promise<string | undefined> {
  return input === goesOn && session_id !== undefined ? (await log.get(session_id))?.lastRun : undefined
}

function wireOf({ chunks, binary_path: page }: Asked) {
  if (page !== undefined) return { dialect: 'studio-page', namesRun: true }
  return { dialect: chunks === 'delta' ? 'studio-delta' : 'studio', namesRun: true, goesOn: true }
}

/** The session, or a new one. A session of another user or project looks unknown (SPEC 6.2). */
async function sessionFor(
  deps: HttpDeps,
  request: FastifyRequest,
  wanted: { readonly id: string; readonly agent: string; readonly title: string },
): Promise<SessionInfo> {
  const { log } = deps.own(request)
  const known =
    (await log.get(wanted.id)) ??
    (await log.create({ ...wanted, user: userFor(request) }).catch(async (error: unknown) => {
      // The same request, sent twice, has created it meanwhile.
      const made = error instanceof MillraceError && error.code === 'conflict' ? await log.get(wanted.id) : undefined
      if (made === undefined) throw error
      return made
    }))
  if (known.agent !== wanted.agent) throw new MillraceError('not-found', `no session ${wanted.id}`)
  return known
}

/** A session that waits for an answer takes the next input as that answer, as Studio's console does. */
function runInput(loaded: LoadedSession, text: string, newId: () => string): RunInput {
  if (loaded.facts.open.size > 0) return { messages: [], resume: answersWith(loaded, typedAnswer(text)) }
  const message: InputMessage = { id: newId(), role: 'user', content: { role: 'user', parts: [{ text }] } }
  return { messages: [message] }
}
