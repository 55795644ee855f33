import {
  fold,
  type InputMessage,
  MillraceError,
  openInterrupts,
  parseJson,
  type RunInput,
  transcriptView,
} from '@millrace/core'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AgentDescription } from '../../agent/agent.ts'
import type { HttpDeps } from '../deps.ts'
import { mayTouch, userFor } from '../doors/access.ts'
import { maxBodyDepth } from '../doors/json-body.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { documented, validateBody } from '../doors/validate-body.ts'
import { listShape, shapeOf } from '../openapi/answers.ts'
import { removeSession } from '../session/remove-session.ts'
import { serveRun } from '../stream.ts'

const streamInput = z.looseObject({
  input: z.string().min(1, 'input is required').max(100_000).describe('What the user says'),
  session_id: z.string().min(1).max(200).optional().describe('Go on with this session'),
})
const resumeBody = z.object({ response: z.json() })

/** ADK Studio's API (SSE schema v2): a project is an agent. */
export const studioRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    const { log, engine } = deps
    const doc = { tag: 'Studio' } as const
    type ById = { Params: { id: string } }

    app.get(
      '/api/projects',
      documented({ ...doc, summary: 'The projects', answer: 'The projects', result: listShape('Project') }),
      async () => {
        const described = await Promise.all(deps.agents.names.map((name) => deps.agents.get(name)?.describe()))
        return described.flatMap((agent) => (agent === undefined ? [] : [summary(agent, deps.now())]))
      },
    )

    app.get<ById>(
      '/api/projects/:id',
      documented({
        ...doc,
        summary: 'A project: its agents and edges',
        answer: 'The project',
        result: shapeOf('ProjectDetail'),
      }),
      async (request) => {
        const agent = await project(deps, request.params.id).describe()
        return { ...summary(agent, deps.now()), ...workflow(agent) }
      },
    )

    const stream = async (request: FastifyRequest<ById>, reply: FastifyReply, given: unknown) => {
      const { input, session_id: wanted } = validateBody(streamInput, given)
      const { name } = project(deps, request.params.id)
      const known = wanted === undefined ? undefined : await log.get(wanted)
      if (known !== undefined && (!mayTouch(request, known) || known.agent !== name))
        throw new MillraceError('not-found', `no session ${wanted}`)
      const session =
        known ??
        (await log.create({
          id: wanted ?? deps.newId(),
          user: userFor(request),
          agent: name,
          title: input.slice(0, 80),
        }))
      const start = {
        session: session.id,
        user: session.user,
        agent: name,
        input: await runInput(deps, session.id, input),
      }
      await serveRun(deps, request, reply, start, { dialect: 'studio' })
      return reply
    }
    const told = {
      ...doc,
      summary: 'Run a project, stream its traces',
      answer: 'Studio SSE v2',
      stream: true,
      starts: true,
    } as const
    // A HEAD would start a run to throw its words away.
    const noHead = { exposeHeadRoute: false }
    app.get<ById>(
      '/api/projects/:id/stream',
      { ...noHead, ...documented({ ...told, query: streamInput }) },
      (request, reply) => stream(request, reply, request.query),
    )
    app.post<ById>('/api/projects/:id/stream', documented({ ...told, body: streamInput }), (request, reply) =>
      stream(request, reply, request.body),
    )

    app.delete<ById>(
      '/api/sessions/:id',
      documented({ ...doc, summary: 'Stop and delete a session', answer: 'Nothing', status: 204 }),
      async (request, reply) => {
        await removeSession(deps, request, await sessionForRequest(deps, request, request.params.id))
        return reply.code(204).send()
      },
    )

    app.post<ById>(
      '/api/sessions/:id/resume',
      documented({
        ...doc,
        summary: 'Answer what a run asked',
        body: resumeBody,
        answer: 'What goes on',
        result: z.object({ success: z.boolean(), node_id: z.string(), message: z.string(), run: z.string() }),
        starts: true,
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
