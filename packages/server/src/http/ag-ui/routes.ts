import {
  type AgUiProtocol,
  type AgUiRequest,
  defined,
  MillraceError,
  type RunInput,
  readRunAgentInput,
} from '@millrace/core'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { protocolHeader } from '../../agent/protocol-header.ts'
import { type LoadedSession, loadSession, refreshSession } from '../../run/load-session.ts'
import type { HttpDeps } from '../deps.ts'
import { userFor } from '../doors/access.ts'
import { bodyRefusal, validateBody } from '../doors/validate-body.ts'
import { boundInput, openingTitle } from '../run-input.ts'
import { serveRun, serveStream } from '../stream.ts'
import { documented, type Surface } from '../surface.ts'
import { capabilitiesOf } from './capabilities.ts'
import { agUiProtobuf } from './protobuf.ts'
import type { ThreadSession } from './thread-index.ts'
import { type ThreadTurn, turnOf } from './turn.ts'

/** For the documentation only: `readRunAgentInput` reads 1.0 and 0.x, camelCase and snake_case, and validates. */
const runAgentInput = z.looseObject({
  threadId: z.string(),
  runId: z.string(),
  messages: z.array(z.looseObject({ id: z.string(), role: z.string() })),
  protocolVersion: z
    .string()
    .optional()
    .describe('`1.0` for AG-UI 1.0; without it the answer is what 0.x clients read'),
  state: z.json().optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
  context: z.array(z.looseObject({})).optional(),
  forwardedProps: z.json().optional(),
  resume: z.array(z.looseObject({ interruptId: z.string() })).optional(),
})

const runQuery = z.looseObject({
  disconnect: z
    .enum(['continue', 'cancel'])
    .optional()
    .describe('What happens to the run when this connection is closed; absent: as the server is set'),
  interrupts: z
    .enum(['outcome', 'custom'])
    .default('outcome')
    .describe('`custom`: AG-UI 0.x with questions only as `CUSTOM on_interrupt`, as LangGraph’s own integration sends'),
})

/** AG-UI 1.0 or 0.x, as the request asks: one POST starts a run and streams it. A thread is a session. */
const agUiRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    type Named = { Params: { agent: string } }
    const run = documented({
      effect: 'start',
      summary: 'Run an agent',
      body: runAgentInput,
      query: runQuery,
      answer: 'AG-UI events',
      stream: true,
      streamTypes: [agUiProtobuf],
    })

    app.post('/', run, async (request, reply) => {
      const asked = readBody(deps, request.body)
      const wanted = asked.input.props?.agent
      return serve(deps, request, reply, asked, typeof wanted === 'string' ? wanted : deps.agents.fallback)
    })
    app.post<Named>('/ag-ui/:agent', run, async (request, reply) =>
      serve(deps, request, reply, readBody(deps, request.body), request.params.agent),
    )
    app.get<Named>(
      '/ag-ui/:agent/capabilities',
      documented({
        effect: 'read',
        summary: 'What the agent can do',
        answer: 'AgentCapabilities',
        result: { type: 'object' },
      }),
      async (request) => {
        const agent = deps.agents.get(request.params.agent)
        if (agent === undefined) throw new MillraceError('not-found', `unknown agent ${request.params.agent}`)
        return capabilitiesOf(await agent.describe())
      },
    )
  }

function readBody({ limits }: HttpDeps, body: unknown): AgUiRequest {
  const asked = readRunAgentInput(body)
  if ('errors' in asked) throw bodyRefusal(asked.errors)
  const tooLong = (['threadId', 'runId'] as const).filter((name) => asked[name].length > 200)
  if (tooLong.length > 0) throw bodyRefusal(tooLong.map((path) => ({ path, message: 'at most 200 characters' })))
  boundInput(limits, asked.input)
  return asked
}

async function serve(deps: HttpDeps, request: FastifyRequest, reply: FastifyReply, asked: AgUiRequest, agent: string) {
  if (deps.agents.get(agent) === undefined) throw new MillraceError('not-found', `unknown agent ${agent}`)
  const { threadId, runId, parentRunId } = asked
  const protocol = request.headers[protocolHeader] === '1.0' ? '1' : asked.protocol
  const wire = wireOf(request, protocol)
  const loaded = await thread(deps, request, asked, agent)
  const again = (known: ThreadSession, turn: ThreadTurn): Promise<boolean> =>
    streamedAgain(deps, request, reply, known, turn, asked, wire)
  const session = await withRows(deps, request, loaded)
  const turn = turnOf(asked.input, session)
  if (await again(session, turn)) return reply
  const { input, replaces, removed } = turn
  const run = freeRunId(runId, session)
  const extra = asked.stateless === true ? { 'ag-ui': { stateless: true } } : undefined
  const start = { session: threadId, user: loaded.info.user, agent, run, input, replaces, removed, loaded }
  try {
    await serveRun(deps, request, reply, { ...start, ...defined({ parent: parentRunId, extra }) }, wire)
  } catch (error) {
    if (!isConflict(error)) throw error
    // The same request came twice at the same time, and the other one has started the run.
    const now = await withRows(deps, request, await refreshSession(deps.own(request).log, loaded))
    if (!(await again(now, turnOf(asked.input, now)))) throw error
  }
  return reply
}

/** The thread with its rows: the history of a client is compared with them. */
async function withRows(deps: HttpDeps, request: FastifyRequest, loaded: LoadedSession): Promise<ThreadSession> {
  return { ...loaded, rows: await deps.own(request).engine.history(loaded.info) }
}

/** A request that is repeated is streamed again: a retry must never run an agent twice. */
async function streamedAgain(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { info, rows }: ThreadSession,
  { isNew }: ThreadTurn,
  { runId, input }: AgUiRequest,
  wire: ReturnType<typeof wireOf>,
): Promise<boolean> {
  if (isNew) return false
  const started = rows.findLast(
    ({ run, event }) => event.kind === 'run.started' && isNamedAfter(run, runId) && isSame(event.input, input),
  )
  if (started === undefined) return false
  const { run, seq } = started
  await serveStream(deps, request, reply, { session: info.id, run, after: seq - 1, ...wire })
  return true
}

/** Whether the run began with this input. An input without messages and answers means the latest run of that name. */
function isSame(begun: RunInput, { messages, resume = [] }: RunInput): boolean {
  if (messages.length === 0 && resume.length === 0) return true
  const sent = new Set(messages.map(({ id }) => id))
  const answered = new Set(begun.resume?.map(({ interrupt }) => interrupt))
  if (!begun.messages.every(({ id }) => sent.has(id))) return false
  return resume.length === 0 ? begun.messages.length > 0 : resume.every(({ interrupt }) => answered.has(interrupt))
}

/**
 * Some clients use one `runId` for a run and for the run that answers its questions. A run's id is unique, so the second
 * run gets a number: `r`, then `r~2`.
 */
function freeRunId(runId: string, { rows }: ThreadSession): string {
  const taken = new Set(rows.flatMap(({ run, event }) => (event.kind === 'run.started' ? [run] : [])))
  let id = runId
  for (let number = 2; taken.has(id); number += 1) id = `${runId.slice(0, 190)}~${number}`
  return id
}

function isNamedAfter(run: string, runId: string): boolean {
  return run === runId || (run.startsWith(`${runId.slice(0, 190)}~`) && /~\d+$/.test(run))
}

const isConflict = (error: unknown): boolean => error instanceof MillraceError && error.code === 'conflict'

/** The session of the thread, made if need be. */
async function thread(
  deps: HttpDeps,
  request: FastifyRequest,
  { threadId: id, input }: AgUiRequest,
  agent: string,
): Promise<LoadedSession> {
  const { log } = deps.own(request)
  let known = await log.get(id)
  if (known === undefined) {
    try {
      return loadSession(log, await log.create({ id, user: userFor(request), agent, title: openingTitle(input) }))
    } catch (error) {
      // Another request for this thread has created it meanwhile.
      known = isConflict(error) ? await log.get(id) : undefined
      if (known === undefined) throw error
    }
  }
  return loadSession(log, known)
}

/** Protobuf only for a client that names it exactly: browsers and curl send `*\/*` and mean SSE. */
function wireOf(
  request: FastifyRequest,
  protocol: AgUiProtocol,
): { dialect: string; headers?: Record<string, string> } {
  const { interrupts } = validateBody(runQuery.pick({ interrupts: true }), request.query)
  if (interrupts === 'custom') return { dialect: 'ag-ui-0-custom' }
  const named = (request.headers.accept ?? '').split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === agUiProtobuf && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
  const dialect = protocol === '1' ? 'ag-ui' : 'ag-ui-0'
  return named ? { dialect: `${dialect}-protobuf`, headers: { 'content-type': agUiProtobuf } } : { dialect }
}

export const agUiSurface: Surface = {
  tag: 'AG-UI',
  about: 'AG-UI 1.0: start a run, stream it',
  problemType: 'application/json',
  routes: agUiRoutes,
}
