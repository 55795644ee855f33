import { MillraceError, type SessionInfo } from '@millrace/core'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { listShape } from '../openapi/answers.ts'
import { documented } from '../surface.ts'
import { type AdkPath, adkSessionAt, knownApp } from './adk-session.ts'
import { dotOf } from './dot.ts'
import { spansOf } from './trace.ts'

type InApp = { Params: { app: string } }

/** What adk-web reads besides the conversation: traces and graphs. */
export const adkDevRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    const described = async (name: string) => {
      const agent = deps.agents.get(knownApp(deps, name))
      if (agent === undefined) throw new MillraceError('not-found', `unknown app ${name}`)
      return agent.describe()
    }

    const spans = async (request: FastifyRequest, session: SessionInfo) => {
      const { log } = deps.own(request)
      return spansOf(session, await log.read(session.id, { after: 0 }))
    }

    for (const prefix of ['/dev/apps/:app/debug', '/debug']) {
      app.get<{ Params: { session: string } }>(
        `${prefix}/trace/session/:session`,
        documented({
          effect: 'read',
          whole: true,
          summary: 'The spans of a session',
          answer: 'Spans',
          result: listShape('Span'),
        }),
        async (request) => {
          const session = await sessionForRequest(deps, request, request.params.session)
          return spans(request, session)
        },
      )
      app.get<{ Params: { event: string } }>(
        `${prefix}/trace/:event`,
        documented({
          effect: 'read',
          summary: 'The attributes of an event’s span',
          answer: 'Attributes',
          result: { type: 'object' },
        }),
        async (request) => {
          const { sessions } = await deps.own(request).log.list({ limit: 50 })
          for (const session of sessions) {
            const found = (await spans(request, session)).find(
              ({ attributes }) => attributes['gcp.vertex.agent.event_id'] === request.params.event,
            )
            if (found !== undefined) return found.attributes
          }
          throw new MillraceError('not-found', 'Trace not found')
        },
      )
    }

    app.get<InApp>(
      '/dev/apps/:app/build_graph',
      documented({
        effect: 'read',
        summary: 'The structure of an app',
        answer: 'The root agent and those below',
        result: z.object({ name: z.string(), root_agent: z.looseObject({ name: z.string() }) }),
      }),
      async (request) => {
        const { name, description, graph, tools = [] } = await described(request.params.app)
        const agents = graph.nodes.filter(({ kind }) => kind === 'agent' || kind === 'step')
        const [root, ...rest] = agents
        const edges = graph.edges.map(({ from, to, label }) => ({ from_node: from, to_node: to, route: label ?? null }))
        const below = rest.map(({ id, description: about = '' }) => ({ name: id, description: about, sub_agents: [] }))
        return {
          name,
          root_agent: {
            name: root?.id ?? name,
            description,
            sub_agents: below,
            tools,
            graph: { nodes: graph.nodes.map(({ id }) => ({ name: id })), edges },
          },
        }
      },
    )
    app.get<InApp & { Querystring: { dark_mode?: string; node?: string } }>(
      '/dev/apps/:app/build_graph_image',
      documented({
        effect: 'read',
        summary: 'The structure as DOT',
        answer: 'DOT, by path and at the top',
        query: z.object({ dark_mode: z.string().optional(), node: z.string().optional() }),
        result: z.looseObject({ dotSrc: z.string() }),
      }),
      async (request) => {
        const dotSrc = dotOf(await described(request.params.app), request.query.dark_mode === 'true')
        return { '': { dotSrc }, dotSrc }
      },
    )
    for (const prefix of ['/dev', '']) {
      app.get<{ Params: AdkPath & { event: string } }>(
        `${prefix}/apps/:app/users/:user/sessions/:id/events/:event/graph`,
        documented({
          effect: 'read',
          whole: true,
          summary: 'The graph, with the path of an event highlighted',
          answer: 'DOT',
          result: z.object({ dotSrc: z.string().optional() }),
        }),
        async (request) => {
          const session = await adkSessionAt(deps, request, request.params)
          const rows = await deps.own(request).log.read(session.id, { after: 0 })
          const row = rows.find(({ event }) => event.kind === 'agent' && event.event.id === request.params.event)
          if (row?.event.kind !== 'agent') return {}
          const names = (row.event.event.content?.parts ?? []).flatMap(
            (part) => part.functionCall?.name ?? part.functionResponse?.name ?? [],
          )
          return { dotSrc: dotOf(await described(session.agent), false, new Set([row.event.event.author, ...names])) }
        },
      )
    }
    app.get(
      '/config/telemetry',
      documented({
        effect: 'read',
        summary: 'Whether adk-web may report',
        answer: 'Never',
        result: z.object({ telemetry: z.boolean() }),
      }),
      async () => ({ telemetry: false }),
    )
    app.post(
      '/config/telemetry',
      documented({
        effect: 'write',
        summary: 'Whether adk-web may report',
        body: z.looseObject({ telemetry: z.boolean().optional() }),
        answer: 'Never',
        result: z.object({ telemetry: z.boolean() }),
      }),
      async () => ({ telemetry: false }),
    )
  }
