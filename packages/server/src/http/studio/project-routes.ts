import { MillraceError } from '@millrace/core'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Agent } from '../../agent/agent.ts'
import type { HttpDeps } from '../deps.ts'
import { refuse } from '../doors/problem.ts'
import { validateBody } from '../doors/validate-body.ts'
import { listShape, shapeOf } from '../openapi/answers.ts'
import { documented, hidden } from '../surface.ts'
import { projectDetail, projectSummary } from './project.ts'
import { isSameProject, sentProject } from './sent-project.ts'
import { sseText } from './sse-text.ts'
import type { WebhookEvents } from './webhook-events.ts'

const code = 'A project is an agent of this server, and its code is edited in the folder of the agent'
const keys = z.object({
  keys: z.array(z.object({ name: z.string(), source: z.string(), masked: z.string().nullable() })),
})
const detected = z.object({
  keys: z.array(z.object({ name: z.string(), status: z.string(), masked: z.string().nullable() })),
})

/** What ADK Studio's page asks about projects before it runs one: list, canvas, build, triggers, keys. */
export const projectRoutes =
  (deps: HttpDeps, webhooks: WebhookEvents): FastifyPluginAsync =>
  async (app) => {
    type ById = { Params: { id: string } }
    const detail = async (id: string) => projectDetail(await projectNamed(deps, id).describe(), deps.now())

    app.get(
      '/api/projects',
      documented({ effect: 'read', summary: 'The projects', answer: 'The projects', result: listShape('Project') }),
      async () => {
        const described = await Promise.all(deps.agents.names.map((name) => deps.agents.get(name)?.describe()))
        return described.flatMap((agent) => (agent === undefined ? [] : [projectSummary(agent, deps.now())]))
      },
    )
    const answer = { answer: 'The project', result: shapeOf('ProjectDetail') }
    app.get<ById>(
      '/api/projects/:id',
      documented({ effect: 'read', summary: 'A project: its agents, tools, trigger and edges', ...answer }),
      async (request) => detail(request.params.id),
    )
    app.put<ById>(
      '/api/projects/:id',
      documented({
        effect: 'write',
        summary: 'Save a project: accepted where the agents and edges are as they were; nothing is kept',
        body: sentProject,
        ...answer,
      }),
      async (request) => {
        const sent = validateBody(sentProject, request.body)
        const mine = await detail(request.params.id)
        if (isSameProject(mine, sent)) return mine
        throw new MillraceError('conflict', `${code}. The page cannot change agents, tools, edges or names.`)
      },
    )
    const refused = hidden({ effect: 'write' })
    app.post('/api/projects', refused, async () => {
      throw refuse('method-not-allowed', `${code}. Make a folder beside the other agents.`, { allow: 'GET' })
    })
    app.delete<ById>('/api/projects/:id', refused, async () => {
      throw refuse('method-not-allowed', `${code}. Remove that folder.`, { allow: 'GET, PUT' })
    })

    app.get<ById>(
      '/api/projects/:id/build-stream',
      documented({
        effect: 'read',
        summary: 'Nothing has to be built: done at once, or the reason why the agent cannot run',
        answer: '`status`, then `done` or `error`',
        stream: true,
      }),
      async (request, reply) => {
        const { name, error } = await projectNamed(deps, request.params.id).describe()
        const end = error === undefined ? sseText('done', `agent:${name}`) : sseText('error', error)
        return sendEvents(reply, sseText('status', `${name} runs as it is: there is nothing to build.`) + end)
      },
    )
    app.post<ById>(
      '/api/projects/:id/build',
      documented({
        effect: 'read',
        summary: 'Nothing has to be built',
        answer: 'Whether the agent can run',
        result: z.object({ success: z.boolean(), output: z.string(), binary_path: z.string().nullable() }),
      }),
      async (request) => {
        const { name, error } = await projectNamed(deps, request.params.id).describe()
        const success = error === undefined
        return { success, output: error ?? '', binary_path: success ? `agent:${name}` : null }
      },
    )
    // Projects have no webhooks. The page waits here all the same, and learns that a run goes on after an answer.
    app.get<ById>(
      '/api/projects/:id/webhook-events',
      hidden({ effect: 'read', stream: true }),
      async (request, reply) => {
        webhooks.listen(request, reply, projectNamed(deps, request.params.id).name)
        return reply
      },
    )

    // Keys are read from the environment of the server. This surface shows none and stores none.
    app.get(
      '/api/settings/detected-keys',
      documented({ effect: 'read', summary: 'Keys are not shown', answer: 'No keys', result: detected }),
      async () => ({ keys: [] }),
    )
    app.get<ById>(
      '/api/projects/:id/keys',
      documented({ effect: 'read', summary: 'Keys are not shown', answer: 'No keys', result: keys }),
      async (request) => {
        projectNamed(deps, request.params.id)
        return { keys: [] }
      },
    )
    const noKeys = async (): Promise<never> => {
      const why =
        'Keys are not stored here. Set them in the environment of the server, or in the .env file of the agent.'
      throw refuse('method-not-allowed', why, { allow: 'GET' })
    }
    app.post<ById>('/api/projects/:id/keys', refused, noKeys)
    app.delete<ById>('/api/projects/:id/keys/:name', refused, noKeys)
  }

export function projectNamed({ agents }: Pick<HttpDeps, 'agents'>, id: string): Agent {
  const agent = agents.get(id)
  if (agent === undefined) throw new MillraceError('not-found', `unknown project ${id}`)
  return agent
}

function sendEvents(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('text/event-stream').header('cache-control', 'no-store').send(text)
}
