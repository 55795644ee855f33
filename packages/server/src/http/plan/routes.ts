import type { InputMessage, RunInput } from '@millrace/core'
import { defined, MillraceError, wellFormed } from '@millrace/core'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type LoadedSession, loadSession } from '../../run/load-session.ts'
import type { HttpDeps } from '../deps.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { validateBody } from '../doors/validate-body.ts'
import { listShape, shapeOf } from '../openapi/answers.ts'
import { titleFrom } from '../run-input.ts'
import { serveRun } from '../stream.ts'
import { documented, type Surface } from '../surface.ts'
import {
  artifactAt,
  artifactContentOf,
  artifactJson,
  artifactsOf,
  dataJson,
  detailJson,
  planSession,
} from './plan-json.ts'
import { taskRoutes } from './task-routes.ts'

const chatBody = z.looseObject({ message: z.string().min(1).max(100_000) })
const executeBody = z.looseObject({}).nullish()
const itemsQuery = z.object({ item_type: z.string().max(100).optional() })

/** The plan/execute contract (docs/wires/plan.md): chat until there is a plan, then execute it. */
const planRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    type ById = { Params: { id: string } }
    type ByItem = { Params: { id: string; item: string } }

    app.get<ById>(
      '/sessions/:id',
      documented({
        effect: 'read',
        whole: true,
        summary: 'A session: tasks, messages, artifact summaries, status',
        answer: 'The session',
        result: shapeOf('PlanSession'),
      }),
      async (request) => detailJson(await planSession(deps, request, request.params.id)),
    )

    const run = async (request: FastifyRequest, reply: FastifyReply, loaded: LoadedSession, input: RunInput) => {
      const { id: session, user, agent } = loaded.info
      await serveRun(deps, request, reply, { session, user, agent, input, loaded }, { dialect: 'plan' })
      return reply
    }
    app.post<ById>(
      '/sessions/:id/chat',
      documented({
        effect: 'start',
        summary: 'Send a message; the plan may change',
        body: chatBody,
        answer: 'content, tasks_updated, error, done',
        stream: true,
      }),
      async (request, reply) => {
        const { message: text } = validateBody(chatBody, request.body)
        const message: InputMessage = { id: deps.newId(), role: 'user', content: { role: 'user', parts: [{ text }] } }
        const session = await sessionForRequest(deps, request, request.params.id)
        const { log } = deps.own(request)
        if (session.title === '') await log.rename(session.id, titleFrom(text))
        const loaded = await loadSession(log, session)
        return run(request, reply, loaded, { messages: [message], props: { mode: 'chat' } })
      },
    )
    app.post<ById>(
      '/sessions/:id/execute',
      documented({
        effect: 'start',
        summary: 'Execute the pending tasks',
        body: executeBody,
        answer: 'task_selected … done',
        stream: true,
      }),
      async (request, reply) => {
        validateBody(executeBody, request.body)
        const session = await planSession(deps, request, request.params.id)
        if (session.plan.tasks.length === 0)
          throw new MillraceError('conflict', 'there are no tasks to execute; make a plan first')
        return run(request, reply, session, { messages: [], props: { mode: 'execute' } })
      },
    )

    await app.register(taskRoutes(deps))

    app.get<ById>(
      '/sessions/:id/artifacts',
      documented({
        effect: 'read',
        whole: true,
        summary: 'The artifacts, without content',
        answer: 'Artifact summaries',
        result: listShape('Artifact'),
      }),
      async (request) => {
        const session = await planSession(deps, request, request.params.id)
        return artifactsOf(session).map((artifact) => artifactJson(session, artifact))
      },
    )
    app.get<ByItem>(
      '/sessions/:id/artifacts/:item',
      documented({
        effect: 'read',
        whole: true,
        summary: 'An artifact with its content',
        answer: 'The artifact',
        result: shapeOf('ArtifactContent'),
      }),
      async (request) => {
        const session = await planSession(deps, request, request.params.id)
        const artifact = artifactAt(session, request.params.item)
        const { text, inlineData } = artifactContentOf(session, artifact) ?? {}
        return { ...artifactJson(session, artifact), content: text ?? null, ...defined({ inlineData }) }
      },
    )
    app.get<ByItem>(
      '/sessions/:id/artifacts/:item/download',
      documented({
        effect: 'read',
        whole: true,
        summary: 'The content as a file',
        answer: 'The file',
        type: 'application/octet-stream',
      }),
      async (request, reply) => {
        const session = await planSession(deps, request, request.params.id)
        const artifact = artifactAt(session, request.params.item)
        const part = artifactContentOf(session, artifact)
        if (part === undefined) throw new MillraceError('not-found', 'this artifact was recorded without content')
        const { name, type, body } = fileOf(wellFormed(artifact.name), part)
        return reply
          .type(type)
          .header(
            'content-disposition',
            `attachment; filename="${ascii(name)}"; filename*=UTF-8''${encodeURIComponent(name)}`,
          )
          .send(body)
      },
    )
    app.delete<ByItem>(
      '/sessions/:id/artifacts/:item',
      documented({ effect: 'write', summary: 'Delete an artifact', answer: 'Nothing', status: 204 }),
      async (request, reply) => {
        const session = await planSession(deps, request, request.params.id)
        const { id, name, type, version } = artifactAt(session, request.params.item)
        await deps
          .own(request)
          .log.append(session.info.id, [
            { run: '', event: { kind: 'artifact', id, name, type, version, deleted: true } },
          ])
        return reply.code(204).send()
      },
    )

    app.get<ById>(
      '/sessions/:id/data-items',
      documented({
        effect: 'read',
        whole: true,
        summary: 'The data items',
        query: itemsQuery,
        answer: 'Data items',
        result: listShape('DataItem'),
      }),
      async (request) => {
        const { item_type: type } = validateBody(itemsQuery, request.query)
        const session = await planSession(deps, request, request.params.id)
        const items = session.plan.data
          .toArray()
          .filter((item) => item.deleted !== true && (type === undefined || item.itemType === type))
        return items.map((item) => dataJson(session, item))
      },
    )
    app.get<ByItem>(
      '/sessions/:id/data-items/:item',
      documented({
        effect: 'read',
        whole: true,
        summary: 'A data item',
        answer: 'The item',
        result: shapeOf('DataItem'),
      }),
      async (request) => {
        const session = await planSession(deps, request, request.params.id)
        const found = session.plan.data
          .toArray()
          .find((item) => wellFormed(item.id) === request.params.item && item.deleted !== true)
        if (found === undefined) throw new MillraceError('not-found', `unknown data item ${request.params.item}`)
        return dataJson(session, found)
      },
    )
  }

/** The file to download. It is never HTML for a browser, whatever type the model gave it. */
function fileOf(
  name: string,
  { text, inlineData }: { text?: string; inlineData?: { mimeType?: string; data?: string } },
) {
  if (text !== undefined)
    return { name: /\.\w+$/.test(name) ? name : `${name}.md`, type: 'text/markdown; charset=utf-8', body: text }
  const type = inlineData?.mimeType ?? 'application/octet-stream'
  const safe = /^(image\/(?:png|jpeg|gif|webp)|application\/pdf|text\/(?:plain|csv|markdown)|application\/json)$/.test(
    type,
  )
  return { name, type: safe ? type : 'application/octet-stream', body: Buffer.from(inlineData?.data ?? '', 'base64') }
}

const ascii = (name: string): string => name.replace(/[^\x20-\x7e]|["\\]/g, '_')

export const planSurface: Surface = {
  tag: 'Plan',
  about: 'Plan and execute: chat, tasks, artifacts, data items',
  routes: planRoutes,
}
