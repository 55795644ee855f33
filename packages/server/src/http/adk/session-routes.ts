import { isObject, type JsonObject, MillraceError, type Recorded, type SessionInfo } from '@millrace/core'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { evalSessionPrefix } from '../../eval/run-case.ts'
import type { ReadImport } from '../../recording/import-thread.ts'
import { each } from '../../recording/recording-reads.ts'
import type { HttpDeps } from '../deps.ts'
import { validateBody } from '../doors/validate-body.ts'
import { listShape, shapeOf } from '../openapi/answers.ts'
import { boundState } from '../run-input.ts'
import { readImportBody, takeBodiesUnread } from '../session/import-body.ts'
import { removeSession } from '../session/remove-session.ts'
import { sendPieces } from '../session/send-pieces.ts'
import { documented } from '../surface.ts'
import { type AdkPath, adkSessionAt, adkSessionSummary, adkUser, knownApp, nameIn, withoutName } from './adk-session.ts'
import {
  createBody,
  type ImportedSession,
  patchOf,
  readSession,
  type SessionImport,
  sessionReading,
  withoutTemporary,
} from './session-import.ts'
import { type AdkSessionOf, adkSession } from './session-json.ts'

const patchBody = z.looseObject({ stateDelta: z.record(z.string(), z.json()).default({}) })
type InApp = { Params: Pick<AdkPath, 'app' | 'user'> }
type AtSession = { Params: AdkPath }

/** ADK sessions: the same sessions as on every other surface. */
export const adkSessionRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    const base = '/apps/:app/users/:user/sessions'
    const shown = async (request: FastifyRequest, reply: FastifyReply, found: SessionInfo): Promise<FastifyReply> => {
      const { log, views } = deps.own(request)
      // What the request itself has changed is shown, too.
      const info = (await log.get(found.id)) ?? found
      const work: AdkSessionOf = { info, shared: await log.sharedState(info) }
      const made = {
        view: 'adk session',
        entry: new URL('./session-worker.js', import.meta.url),
        work,
        here: (rows: readonly Recorded[]) => adkSession(info, rows, work.shared),
      }
      return sendPieces(reply, (signal) =>
        views.folded(made, { session: info, at: undefined, user: info.user, signal }),
      )
    }

    const create = async (
      request: FastifyRequest,
      { app: agent, user }: Pick<AdkPath, 'app' | 'user'>,
      { about: { id, name, shared }, pages }: ReadImport<ImportedSession>,
    ): Promise<SessionInfo> => {
      const { log } = deps.own(request)
      request.about.session = id
      if ((await log.get(id)) !== undefined) throw new MillraceError('conflict', `Session already exists: ${id}`)
      let info = await log.restorePages({ id, user, agent }, pages)
      // Not part of the import: a person's edit is what changes the values that sessions share.
      if (shared.length > 0) await log.append(id, [{ run: '', event: { kind: 'state', patch: shared } }])
      if (shared.length > 0) info = (await log.get(id)) ?? info
      return name === undefined ? info : log.rename(id, name)
    }
    const asImport = (id: string): SessionImport => ({ id, now: deps.now(), state: deps.limits.state })

    app.get<InApp>(
      base,
      documented({ effect: 'read', summary: 'List sessions', answer: 'A bare array', result: listShape('AdkSession') }),
      async (request) => {
        const { app: name, user } = request.params
        const query = { user: adkUser(request, user), agent: knownApp(deps, name), limit: 500 }
        const { sessions } = await deps.own(request).log.list(query)
        return sessions.filter(({ id }) => !id.startsWith(evalSessionPrefix)).map(adkSessionSummary)
      },
    )
    await app.register(async (unread) => {
      takeBodiesUnread(unread, ['application/json'])
      unread.post<InApp>(
        base,
        documented({
          effect: 'write',
          summary: 'Create or import a session',
          body: createBody,
          answer: 'The session',
          result: shapeOf('AdkSession'),
        }),
        async (request, reply) => {
          const { app: name, user } = request.params
          const place = { app: knownApp(deps, name), user: adkUser(request, user) }
          const info = await readImportBody(deps, request, reply, sessionReading(asImport(deps.newId())), (read) =>
            create(request, place, read),
          )
          return shown(request, reply, info)
        },
      )
    })
    app.post<AtSession>(
      `${base}/:id`,
      documented({
        effect: 'write',
        summary: 'Create a session with this id',
        body: createBody,
        answer: 'The session',
        result: shapeOf('AdkSession'),
      }),
      async (request, reply) => {
        const { app: name, user, id } = request.params
        const { body } = request
        // Early ADK Python servers took the bare state as the body; ADK JS takes { state }.
        const bare = isObject(body) && !('state' in body) && !('events' in body) && Object.keys(body).length > 0
        const place = { app: knownApp(deps, name), user: adkUser(request, user) }
        const { about, pages } = readSession(bare ? { state: body } : body, asImport(id))
        return shown(request, reply, await create(request, place, { about: { ...about, id }, pages: each(pages) }))
      },
    )
    app.get<AtSession>(
      `${base}/:id`,
      documented({
        effect: 'read',
        whole: true,
        summary: 'A session with its events and state',
        answer: 'The session',
        result: shapeOf('AdkSession'),
      }),
      async (request, reply) => {
        return shown(request, reply, await adkSessionAt(deps, request, request.params))
      },
    )
    app.patch<AtSession>(
      `${base}/:id`,
      documented({
        effect: 'write',
        summary: 'Change the state or the name',
        body: patchBody,
        answer: 'The session',
        result: shapeOf('AdkSession'),
      }),
      async (request, reply) => {
        const { stateDelta } = validateBody(patchBody, request.body)
        boundState(deps.limits, stateDelta as JsonObject, 'stateDelta')
        const { log } = deps.own(request)
        let info = await adkSessionAt(deps, request, request.params)
        const delta = stateDelta as JsonObject
        const name = nameIn(delta)
        if (name !== undefined) info = await log.rename(info.id, name)
        const patch = patchOf(withoutTemporary(withoutName(delta)))
        if (patch.length > 0) await log.append(info.id, [{ run: '', event: { kind: 'state', patch } }])
        return shown(request, reply, info)
      },
    )
    app.delete<AtSession>(
      `${base}/:id`,
      documented({ effect: 'write', summary: 'Delete a session', answer: 'null', result: { type: 'null' } }),
      async (request, reply) => {
        await removeSession(deps, request, await adkSessionAt(deps, request, request.params))
        return reply.type('application/json').send('null')
      },
    )
  }
