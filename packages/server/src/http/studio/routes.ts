import {
  defined,
  type InputMessage,
  type Json,
  MillraceError,
  parseJson,
  type RunInput,
  type SessionInfo,
} from '@millrace/core'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AgentDescription } from '../../agent/agent.ts'
import { type LoadedSession, loadSession } from '../../run/load-session.ts'
import type { HttpDeps } from '../deps.ts'
import { mayTouch, userFor } from '../doors/access.ts'
import { maxBodyDepth } from '../doors/json-body.ts'
import { rejoin } from '../doors/rejoin.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { validateBody } from '../doors/validate-body.ts'
import { listShape, shapeOf } from '../openapi/answers.ts'
import { removeSession } from '../session/remove-session.ts'
import { cancelsOnDisconnect, serveRun, serveStream } from '../stream.ts'
import { documented, type Surface } from '../surface.ts'

const streamInput = z.looseObject({
  input: z.string().min(1, 'input is required').max(100_000).describe('The text of the user'),
  session_id: z.string().min(1).max(200).optional().describe('Continue this session'),
})
const streamQuery = streamInput.extend({
  run: z
    .string()
    .regex(/^[\w.~-]{1,200}$/, 'a run id has letters, digits and . _ ~ - only')
    .optional()
    .describe('The id of the run: the same request sent again re-joins it, even before the first event'),
  after: z.string().optional().describe('Re-join after this id and start nothing; `Last-Event-ID` wins'),
})
const resumeBody = z.object({ response: z.json() })

/** ADK Studio's API (SSE schema v2): a project is an agent. */
const studioRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    const { log, engine } = deps
    type ById = { Params: { id: string } }

    app.get(
      '/api/projects',
      documented({ effect: 'read', summary: 'The projects', answer: 'The projects', result: listShape('Project') }),
      async () => {
        const described = await Promise.all(deps.agents.names.map((name) => deps.agents.get(name)?.describe()))
        return described.flatMap((agent) => (agent === undefined ? [] : [summary(agent, deps.now())]))
      },
    )

    app.get<ById>(
      '/api/projects/:id',
      documented({
        effect: 'read',
        summary: 'A project: its agents and edges',
        answer: 'The project',
        result: shapeOf('ProjectDetail'),
      }),
      async (request) => {
        const agent = await project(deps, request.params.id).describe()
        return { ...summary(agent, deps.now()), ...workflow(agent) }
      },
    )

    const stream = async (request: FastifyRequest<ById>, reply: FastifyReply, asked: Asked, namesRun: boolean) => {
      const { input, session_id: wanted, run } = asked
      const { name } = project(deps, request.params.id)
      const id = wanted ?? run ?? deps.newId()
      const info = await sessionFor(deps, request, { id, agent: name, title: input.slice(0, 80) })
      const loaded = await loadSession(log, info)
      const start = {
        session: info.id,
        user: info.user,
        agent: name,
        input: runInput(loaded, input, deps.newId),
        loaded,
        // Where the URL names no session, a reconnect finds it by the run, which has the same id.
        ...defined({ run: run ?? (wanted === undefined ? id : undefined) }),
      }
      await serveRun(deps, request, reply, start, { dialect: 'studio', namesRun })
    }
    /** A browser's EventSource requests the same URL again after every cut: only the first request starts a run. */
    const streamOnce = async (request: FastifyRequest<ById>, reply: FastifyReply) => {
      const asked = validateBody(streamQuery, request.query)
      const meant = { agent: project(deps, request.params.id).name, session: asked.session_id, run: asked.run }
      /** Returns whether it answered, and not the reply, because awaiting a reply waits for its end. */
      const again = async (): Promise<boolean> => {
        const place = await rejoin(deps, request, meant)
        if (place === 'over') void reply.code(204).send()
        else if (place !== undefined) {
          const cancelOnDisconnect = cancelsOnDisconnect(deps, request)
          await serveStream(deps, request, reply, { ...place, dialect: 'studio', namesRun: true, cancelOnDisconnect })
        }
        return place !== undefined
      }
      if (await again()) return reply
      try {
        await stream(request, reply, asked, true)
      } catch (error) {
        // The same request came twice at the same time, and the other one has started the run.
        const started = error instanceof MillraceError && error.code === 'conflict'
        if (!started || !(await again())) throw error
      }
      return reply
    }
    const streamDoc = {
      effect: 'start',
      summary: 'Run a project, stream its traces',
      answer: 'Studio SSE v2',
      stream: true,
    } as const
    // A HEAD request would start a run and discard its output.
    const noHead = { exposeHeadRoute: false }
    app.get<ById>(
      '/api/projects/:id/stream',
      { ...noHead, ...documented({ ...streamDoc, query: streamQuery }) },
      streamOnce,
    )
    app.post<ById>(
      '/api/projects/:id/stream',
      documented({ ...streamDoc, body: streamInput }),
      async (request, reply) => {
        const { input, session_id } = validateBody(streamInput, request.body)
        await stream(request, reply, { input, session_id }, false)
        return reply
      },
    )

    app.delete<ById>(
      '/api/sessions/:id',
      documented({ effect: 'write', summary: 'Stop and delete a session', answer: 'Nothing', status: 204 }),
      async (request, reply) => {
        await removeSession(deps, request, await sessionForRequest(deps, request, request.params.id))
        return reply.code(204).send()
      },
    )

    app.post<ById>(
      '/api/sessions/:id/resume',
      documented({
        effect: 'start',
        summary: 'Answer the open questions of a run',
        body: resumeBody,
        answer: 'The run that continues',
        result: z.object({ success: z.boolean(), node_id: z.string(), message: z.string(), run: z.string() }),
      }),
      async (request) => {
        const { response } = validateBody(resumeBody, request.body)
        const loaded = await loadSession(log, await sessionForRequest(deps, request, request.params.id))
        const { id: session, user, agent } = loaded.info
        const [first] = loaded.facts.open.values()
        if (first === undefined) throw new MillraceError('not-found', `session ${session} has no open question`)
        const input = { messages: [], resume: answersWith(loaded, response) }
        const { run } = await engine.start({ session, user, agent, input, loaded })
        request.about.run = run
        return { success: true, node_id: first.node ?? '', message: 'resumed', run }
      },
    )
  }

interface Asked {
  readonly input: string
  readonly session_id?: string | undefined
  readonly run?: string | undefined
}

/** The session, or a new one. A session of another user or project looks unknown (SPEC 6.2). */
async function sessionFor(
  { log }: HttpDeps,
  request: FastifyRequest,
  wanted: { readonly id: string; readonly agent: string; readonly title: string },
): Promise<SessionInfo> {
  const known =
    (await log.get(wanted.id)) ??
    (await log.create({ ...wanted, user: userFor(request) }).catch(async (error: unknown) => {
      // The same request, sent twice, has created it meanwhile.
      const made = error instanceof MillraceError && error.code === 'conflict' ? await log.get(wanted.id) : undefined
      if (made === undefined) throw error
      return made
    }))
  if (!mayTouch(request, known) || known.agent !== wanted.agent)
    throw new MillraceError('not-found', `no session ${wanted.id}`)
  return known
}

/** A session that waits for an answer takes the next input as that answer, as Studio's console does. */
function runInput(loaded: LoadedSession, text: string, newId: () => string): RunInput {
  if (loaded.facts.open.size > 0) return { messages: [], resume: answersWith(loaded, answer(text)) }
  const message: InputMessage = { id: newId(), role: 'user', content: { role: 'user', parts: [{ text }] } }
  return { messages: [message] }
}

/** One answer to every open question. */
function answersWith({ facts }: LoadedSession, payload: Json): NonNullable<RunInput['resume']> {
  return [...facts.open.keys()].map((interrupt) => ({ interrupt, status: 'resolved', payload }))
}

/** A typed answer as a value: yes and no as booleans, JSON as JSON, anything else as text. */
function answer(text: string) {
  if (/^\s*(yes|y|approve|ok|confirm)\s*$/i.test(text)) return true
  if (/^\s*(no|n|reject|deny|cancel)\s*$/i.test(text)) return false
  const parsed = parseJson(text, maxBodyDepth)
  return 'value' in parsed ? parsed.value : text
}

function project({ agents }: HttpDeps, id: string) {
  const agent = agents.get(id)
  if (agent === undefined) throw new MillraceError('not-found', `unknown project ${id}`)
  return agent
}

function summary({ name, description }: AgentDescription, now: number) {
  return { id: name, name, description, updated_at: new Date(now).toISOString() }
}

function workflow({ graph, tools = [], model }: AgentDescription) {
  const agents = graph.nodes.filter(({ kind }) => kind === 'agent' || kind === 'step')
  return {
    agents: Object.fromEntries(
      agents.map(({ id, description = '' }) => [id, { type: 'llm', description, ...defined({ model: model?.name }) }]),
    ),
    tools,
    workflow: {
      edges: graph.edges.map(({ from, to, label }) => defined({ from, to, condition: label })),
    },
  }
}

export const studioSurface: Surface = {
  tag: 'Studio',
  about: 'ADK Studio SSE v2',
  routes: studioRoutes,
}
