import {
  fold,
  type InputMessage,
  MillraceError,
  openInterrupts,
  parseJson,
  type RunInput,
  type SessionInfo,
  transcriptView,
} from '@millrace/core'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AgentDescription } from '../../agent/agent.ts'
import type { HttpDeps } from '../deps.ts'
import { mayTouch, userFor } from '../doors/access.ts'
import { maxBodyDepth } from '../doors/json-body.ts'
import { rejoin } from '../doors/rejoin.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { validateBody } from '../doors/validate-body.ts'
import { listShape, shapeOf } from '../openapi/answers.ts'
import { removeSession } from '../session/remove-session.ts'
import { serveRun, serveStream } from '../stream.ts'
import { documented, type Surface } from '../surface.ts'

const streamInput = z.looseObject({
  input: z.string().min(1, 'input is required').max(100_000).describe('What the user says'),
  session_id: z.string().min(1).max(200).optional().describe('Go on with this session'),
})
const streamQuery = streamInput.extend({
  run: z
    .string()
    .regex(/^[\w.~-]{1,200}$/, 'a run is named with letters, digits and . _ ~ - alone')
    .optional()
    .describe('Name the run: asked again, even before its first id came, the request re-joins it'),
  after: z.string().optional().describe('Re-join after this id, start nothing; `Last-Event-ID` wins'),
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
      const session = await sessionFor(deps, request, { id, agent: name, title: input.slice(0, 80) })
      const start = {
        session: session.id,
        user: session.user,
        agent: name,
        input: await runInput(deps, session.id, input),
        // A reconnect finds the session by the run where its URL names none.
        ...(run !== undefined ? { run } : wanted === undefined ? { run: id } : {}),
      }
      await serveRun(deps, request, reply, start, { dialect: 'studio', namesRun })
    }
    /** A browser's EventSource asks for the same URL again after every cut: only the first time starts a run. */
    const streamOnce = async (request: FastifyRequest<ById>, reply: FastifyReply) => {
      const asked = validateBody(streamQuery, request.query)
      const meant = { agent: project(deps, request.params.id).name, session: asked.session_id, run: asked.run }
      /** Whether it was answered: a reply itself is a promise of its own end. */
      const again = async (): Promise<boolean> => {
        const place = await rejoin(deps, request, meant)
        if (place === 'over') void reply.code(204).send()
        else if (place !== undefined) {
          const cancelOnDisconnect = asked.disconnect === 'cancel'
          await serveStream(deps, request, reply, { ...place, dialect: 'studio', namesRun: true, cancelOnDisconnect })
        }
        return place !== undefined
      }
      if (await again()) return reply
      try {
        await stream(request, reply, asked, true)
      } catch (error) {
        // The same request came twice at once, and the other one has started the run.
        const started = error instanceof MillraceError && error.code === 'conflict'
        if (!started || !(await again())) throw error
      }
      return reply
    }
    const told = {
      effect: 'start',
      summary: 'Run a project, stream its traces',
      answer: 'Studio SSE v2',
      stream: true,
    } as const
    // A HEAD would start a run to throw its words away.
    const noHead = { exposeHeadRoute: false }
    app.get<ById>('/api/projects/:id/stream', { ...noHead, ...documented({ ...told, query: streamQuery }) }, streamOnce)
    app.post<ById>('/api/projects/:id/stream', documented({ ...told, body: streamInput }), async (request, reply) => {
      const { input, session_id } = validateBody(streamInput, request.body)
      await stream(request, reply, { input, session_id }, false)
      return reply
    })

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
        summary: 'Answer what a run asked',
        body: resumeBody,
        answer: 'What goes on',
        result: z.object({ success: z.boolean(), node_id: z.string(), message: z.string(), run: z.string() }),
      }),
      async (request) => {
        const { response } = validateBody(resumeBody, request.body)
        const session = await sessionForRequest(deps, request, request.params.id)
        const open = openInterrupts(fold(transcriptView, await log.read(session.id, { after: 0 })))
        if (open.length === 0) throw new MillraceError('not-found', `session ${session.id} is not interrupted`)
        const resume = open.map(({ id }) => ({ interrupt: id, status: 'resolved' as const, payload: response }))
        const { run } = await engine.start({
          session: session.id,
          user: session.user,
          agent: session.agent,
          input: { messages: [], resume },
        })
        request.about.run = run
        return { success: true, node_id: open[0]?.node ?? '', message: 'resumed', run }
      },
    )
  }

interface Asked {
  readonly input: string
  readonly session_id?: string | undefined
  readonly run?: string | undefined
}

/** The session as it is, or a new one. Another's, and one of another project, look unknown (SPEC 6.2). */
async function sessionFor(
  { log }: HttpDeps,
  request: FastifyRequest,
  wanted: { readonly id: string; readonly agent: string; readonly title: string },
): Promise<SessionInfo> {
  const known =
    (await log.get(wanted.id)) ??
    (await log.create({ ...wanted, user: userFor(request) }).catch(async (error: unknown) => {
      // Created meanwhile by the same request, sent twice.
      const made = error instanceof MillraceError && error.code === 'conflict' ? await log.get(wanted.id) : undefined
      if (made === undefined) throw error
      return made
    }))
  if (!mayTouch(request, known) || known.agent !== wanted.agent)
    throw new MillraceError('not-found', `no session ${wanted.id}`)
  return known
}

/** A session that waits for an answer takes the next input as that answer, as Studio's console does. */
async function runInput({ log, newId }: HttpDeps, session: string, text: string): Promise<RunInput> {
  const open = openInterrupts(fold(transcriptView, await log.read(session, { after: 0 })))
  if (open.length > 0)
    return {
      messages: [],
      resume: open.map(({ id }) => ({ interrupt: id, status: 'resolved' as const, payload: answer(text) })),
    }
  const message: InputMessage = { id: newId(), role: 'user', content: { role: 'user', parts: [{ text }] } }
  return { messages: [message] }
}

/** Typed answers: JSON where it is JSON, yes and no where somebody is asked, else the words themselves. */
function answer(text: string) {
  if (/^\s*(yes|y|approve|ok|confirm)\s*$/i.test(text)) return true
  if (/^\s*(no|n|reject|deny|cancel)\s*$/i.test(text)) return false
  const parsed = parseJson(text, maxBodyDepth)
  return 'value' in parsed ? parsed.value : text
}

function project({ agents }: HttpDeps, id: string) {
  const agent = agents.get(id)
  if (agent === undefined) throw new MillraceError('not-found', `there is no project ${id}`)
  return agent
}

function summary({ name, description }: AgentDescription, now: number) {
  return { id: name, name, description, updated_at: new Date(now).toISOString() }
}

function workflow({ graph, tools = [], model }: AgentDescription) {
  const agents = graph.nodes.filter(({ kind }) => kind === 'agent' || kind === 'step')
  return {
    agents: Object.fromEntries(
      agents.map(({ id, description = '' }) => [
        id,
        { type: 'llm', description, ...(model === undefined ? {} : { model: model.name }) },
      ]),
    ),
    tools,
    workflow: {
      edges: graph.edges.map(({ from, to, label }) => ({
        from,
        to,
        ...(label === undefined ? {} : { condition: label }),
      })),
    },
  }
}

export const studioSurface: Surface = {
  tag: 'Studio',
  about: 'ADK Studio SSE v2',
  routes: studioRoutes,
}
