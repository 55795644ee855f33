import {
  adkIngest,
  isObject,
  type JsonObject,
  MillraceError,
  type PatchOp,
  type Recorded,
  type SessionInfo,
} from '@millrace/core'
import { isShared } from '@millrace/core/store'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { evalSessionPrefix } from '../../eval/run-case.ts'
import type { HttpDeps } from '../deps.ts'
import { validateBody } from '../doors/validate-body.ts'
import { listShape, shapeOf } from '../openapi/answers.ts'
import { boundState } from '../run-input.ts'
import { removeSession } from '../session/remove-session.ts'
import { sendPieces } from '../session/send-pieces.ts'
import { documented } from '../surface.ts'
import { type AdkPath, adkSessionAt, adkSessionSummary, adkUser, knownApp, nameIn, withoutName } from './adk-session.ts'
import { type AdkSessionOf, adkSession } from './session-json.ts'

const createBody = z
  .looseObject({
    sessionId: z.string().min(1).max(200).optional(),
    state: z.record(z.string(), z.json()).nullish(),
    events: z.array(z.record(z.string(), z.unknown())).max(50_000).nullish(),
  })
  .nullish()
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

    const create = async (request: FastifyRequest, reply: FastifyReply, path: AdkPath, body: unknown) => {
      const { log } = deps.own(request)
      request.about.session = path.id
      const { state, events } = validateBody(createBody, body) ?? {}
      boundState(deps.limits, (state ?? {}) as JsonObject, 'state')
      if ((await log.get(path.id)) !== undefined)
        throw new MillraceError('conflict', `Session already exists: ${path.id}`)
      const { own, shared } = scopesOf(withoutName((state ?? {}) as JsonObject))
      const rows = importedRows(path.id, events ?? [], own, deps.now())
      let info = await log.restore({ id: path.id, user: path.user, agent: path.app }, rows)
      const patch = patchOf(shared)
      // Not part of the import: a person's edit is what changes the values that sessions share.
      if (patch.length > 0) await log.append(path.id, [{ run: '', event: { kind: 'state', patch } }])
      if (patch.length > 0) info = (await log.get(path.id)) ?? info
      const name = nameIn((state ?? {}) as JsonObject)
      if (name !== undefined) info = await log.rename(path.id, name)
      return shown(request, reply, info)
    }

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
    app.post<InApp>(
      base,
      {
        bodyLimit: deps.limits.importBody,
        ...documented({
          effect: 'write',
          summary: 'Create or import a session',
          body: createBody,
          answer: 'The session',
          result: shapeOf('AdkSession'),
        }),
      },
      async (request, reply) => {
        const { app: name, user } = request.params
        const wanted =
          isObject(request.body) && typeof request.body.sessionId === 'string' ? request.body.sessionId : deps.newId()
        return create(
          request,
          reply,
          { app: knownApp(deps, name), user: adkUser(request, user), id: wanted },
          request.body,
        )
      },
    )
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
        const path = { app: knownApp(deps, name), user: adkUser(request, user), id }
        return create(request, reply, path, bare ? { state: body } : body)
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

/** The rows of an imported session: its ADK events as they are, grouped into runs, then its state. */
function importedRows(
  session: string,
  events: readonly unknown[],
  state: JsonObject,
  now: number,
): readonly Recorded[] {
  const ingest = adkIngest()
  const rows: Recorded[] = []
  const put = (at: number, run: string, event: Recorded['event']): void => {
    rows.push({ seq: rows.length + 1, at, run, event })
  }
  let run = ''
  for (const raw of events) {
    const taken = ingest(raw)
    if ('reason' in taken) {
      put(now, run, { kind: 'foreign', dialect: 'adk', raw: JSON.stringify(raw), reason: taken.reason })
      continue
    }
    const { invocationId = `${session}-imported`, author, timestamp, content } = taken.event
    if (invocationId !== run) {
      if (run !== '') put(timestamp, run, { kind: 'run.finished', outcome: 'done' })
      run = invocationId
      const messages =
        author === 'user' && content !== undefined ? [{ id: taken.event.id, role: 'user' as const, content }] : []
      put(timestamp, run, { kind: 'run.started', agent: author === 'user' ? '' : author, input: { messages } })
      if (messages.length > 0) continue
    }
    put(timestamp, run, { kind: 'agent', ...taken })
  }
  if (run !== '') put(rows.at(-1)?.at ?? now, run, { kind: 'run.finished', outcome: 'done' })
  const patch = patchOf(state)
  if (patch.length > 0) put(now, '', { kind: 'state', patch })
  return rows
}

/** ADK keeps `temp:` keys for one invocation only: nothing stores them. */
function withoutTemporary(state: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !key.startsWith('temp:')))
}

/** The state that belongs to the session, and the state that sessions share. */
function scopesOf(state: JsonObject): { readonly own: JsonObject; readonly shared: JsonObject } {
  const entries = Object.entries(withoutTemporary(state))
  return {
    own: Object.fromEntries(entries.filter(([key]) => !isShared(key))),
    shared: Object.fromEntries(entries.filter(([key]) => isShared(key))),
  }
}

/** Sets these top-level keys of the state. */
const patchOf = (state: JsonObject): readonly PatchOp[] =>
  Object.entries(state).map(([key, value]) => ({ op: 'add', path: pointer(key), value }))

const pointer = (key: string): string => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
