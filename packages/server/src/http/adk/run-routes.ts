import {
  type AdkPart,
  defined,
  type InputMessage,
  type JsonObject,
  MillraceError,
  type Recorded,
  type RunInput,
} from '@millrace/core'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isNested } from '../../agent/nested-event.ts'
import type { StartedRun, StartRequest } from '../../run/run-engine.ts'
import type { HttpDeps } from '../deps.ts'
import { sendProblem, streamProblem } from '../doors/problem.ts'
import { validateBody } from '../doors/validate-body.ts'
import { listShape } from '../openapi/answers.ts'
import type { OwnSessions } from '../own-sessions.ts'
import { boundInput } from '../run-input.ts'
import { cancelsOnDisconnect, patience, serveRun } from '../stream.ts'
import { documented } from '../surface.ts'
import { adkSessionAt, adkUser, knownApp } from './adk-session.ts'
import { adkEvents } from './session-json.ts'

const part = z.looseObject({
  text: z.string().optional(),
  functionResponse: z
    .looseObject({ id: z.string().optional(), name: z.string(), response: z.record(z.string(), z.json()).optional() })
    .optional(),
  inlineData: z.looseObject({ mimeType: z.string().optional(), data: z.string().optional() }).optional(),
})
const runBody = z.preprocess(
  camelCased,
  z.looseObject({
    appName: z.string().min(1),
    userId: z.string().min(1).max(200),
    sessionId: z.string().min(1).max(200),
    newMessage: z.object({
      role: z.string().optional(),
      parts: z.array(part).min(1, 'newMessage has no parts').max(100),
    }),
    streaming: z.boolean().optional(),
    stateDelta: z.record(z.string(), z.json()).nullish(),
    invocationId: z.string().nullish(),
    functionCallEventId: z.string().nullish(),
  }),
)

/** The two ways of Google ADK to run an agent: `/run` answers with the events, `/run_sse` streams them. */
export const adkRunRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    const doc = { effect: 'start', body: runBody } as const

    app.post(
      '/run_sse',
      {
        ...documented({ ...doc, summary: 'Run an agent, stream its ADK events', answer: 'ADK events', stream: true }),
        errorHandler: refuseRun,
      },
      async (request, reply) => {
        const { start, streaming } = await prepare(deps, request)
        // adk-web shows live what its reload of the session shows; other clients get what ADK's own servers send.
        const whole = readsFrames(request) ? 'adk-authors' : 'adk-whole'
        await serveRun(deps, request, reply, start, { dialect: streaming ? 'adk' : whole })
        return reply
      },
    )

    app.post(
      '/run',
      documented({ ...doc, summary: 'Run an agent to its end', answer: 'ADK events', result: listShape('AdkEvent') }),
      async (request, reply) => {
        const { start } = await prepare(deps, request)
        const { engine } = deps.own(request)
        // As in `serveRun`, the client counts as a reader at once: a second `/run` is refused and does not supersede this one.
        const started = await engine.start({ ...start, attach: true, patience, isGone: () => reply.raw.destroyed })
        const { run, seq } = started
        request.about.run = run
        const leave = whenLeft(deps, request, reply, start.session, started)
        try {
          await engine.wait(start.session, run)
        } finally {
          leave()
        }
        return wholeEvents(deps.own(request), start.session, run, seq)
      },
    )
  }

/** Whether the client names event streams in what it accepts, as adk-web does. */
const readsFrames = ({ headers }: FastifyRequest): boolean => (headers.accept ?? '').includes('text/event-stream')

/** adk-web reads only the frames of the answer, whatever its status is: a refusal in JSON would show nothing. */
function refuseRun(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return readsFrames(request) ? streamProblem(error, request, reply) : sendProblem(error, request, reply)
}

async function prepare(deps: HttpDeps, request: FastifyRequest): Promise<{ start: StartRequest; streaming: boolean }> {
  const body = validateBody(runBody, request.body)
  const app = knownApp(deps, body.appName)
  const user = adkUser(request, body.userId)
  const session = await adkSessionAt(deps, request, { app, user, id: body.sessionId })
  const message: InputMessage = {
    id: deps.newId(),
    role: 'user',
    content: { role: body.newMessage.role ?? 'user', parts: body.newMessage.parts as readonly AdkPart[] },
  }
  // ADK never stores `temp:` keys, and drops those that come with a message.
  const delta = Object.entries((body.stateDelta ?? {}) as JsonObject).filter(([key]) => !key.startsWith('temp:'))
  const state: JsonObject | undefined = delta.length === 0 ? undefined : Object.fromEntries(delta)
  const props: JsonObject = { streaming: body.streaming === true }
  const input: RunInput = { messages: [message], props, ...defined({ state }) }
  boundInput(deps.limits, input, { state: 'stateDelta' })
  return { start: { session: session.id, user, agent: app, input }, streaming: body.streaming === true }
}

/** The events that `/run_sse` without streaming sends. A failed or cancelled run is an error status, not a 200. */
async function wholeEvents(
  { log }: OwnSessions,
  session: string,
  run: string,
  seq: number,
): Promise<readonly JsonObject[]> {
  const rows = (await log.read(session, { after: seq - 1 })).filter((row) => row.run === run)
  const end = rows.at(-1)?.event
  if (end?.kind === 'run.finished' && (end.outcome === 'failed' || end.outcome === 'cancelled')) {
    const code = end.error?.code ?? (end.outcome === 'failed' ? 'agent-error' : 'cancelled')
    const message = end.error?.message ?? (end.outcome === 'failed' ? 'the run failed' : 'the run was cancelled')
    throw new MillraceError(code, message, { session, run })
  }
  const answer = rows.filter(
    ({ event }: Recorded) => event.kind !== 'run.started' && !(event.kind === 'agent' && isNested(event.event)),
  )
  return adkEvents(session, answer)
}

/** Ends the client's reading when it leaves; where a closed connection cancels, that also cancels the run. */
function whenLeft(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  session: string,
  { run, leave }: StartedRun,
): () => void {
  const cancel = cancelsOnDisconnect(deps, request)
  const left = (): void => {
    leave()
    if (cancel) void deps.own(request).engine.cancel(session, run)
  }
  reply.raw.once('close', left)
  if (reply.raw.destroyed) left()
  return () => {
    reply.raw.off('close', left)
    leave()
  }
}

/** Python clients may write snake_case. Only the top-level fields are renamed. */
function camelCased(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const names: Readonly<Record<string, string>> = {
    app_name: 'appName',
    user_id: 'userId',
    session_id: 'sessionId',
    new_message: 'newMessage',
    state_delta: 'stateDelta',
    invocation_id: 'invocationId',
  }
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [names[key] ?? key, value]))
}
