import {
  type AgUiProtocol,
  type AgUiRequest,
  defined,
  type InputMessage,
  isObject,
  MillraceError,
  type Recorded,
  type RunInput,
  readRunAgentInput,
} from '@millrace/core'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { protocolHeader } from '../../agent/protocol-header.ts'
import { type LoadedSession, loadSession } from '../../run/load-session.ts'
import type { HttpDeps } from '../deps.ts'
import { mayTouch, userFor } from '../doors/access.ts'
import { bodyRefusal } from '../doors/validate-body.ts'
import { boundInput } from '../run-input.ts'
import { serveRun, serveStream } from '../stream.ts'
import { documented, type Surface } from '../surface.ts'
import { capabilitiesOf } from './capabilities.ts'
import { agUiProtobuf } from './protobuf.ts'

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

/** AG-UI 1.0 or 0.x, as the request asks: one POST starts a run and streams it. A thread is a session. */
const agUiRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    type Named = { Params: { agent: string } }
    const run = documented({
      effect: 'start',
      summary: 'Run an agent',
      body: runAgentInput,
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
  const loaded = await thread(deps, request, asked, agent)
  const protocol = request.headers[protocolHeader] === '1.0' ? '1' : asked.protocol
  const wire = wireOf(request, protocol)
  const again = (): Promise<boolean> => streamedAgain(deps, request, reply, threadId, runId, wire)
  if (await again()) return reply
  const input = newInput(asked.input, loaded, await deps.engine.history(loaded.info))
  const start = { session: threadId, user: loaded.info.user, agent, run: runId, input, loaded }
  try {
    await serveRun(deps, request, reply, { ...start, ...defined({ parent: parentRunId }) }, wire)
  } catch (error) {
    // The same request came twice at the same time, and the other one has started the run.
    if (!isConflict(error) || !(await again())) throw error
  }
  return reply
}

/** A run that is asked for again is streamed again: a retry must never run an agent twice. */
async function streamedAgain(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  session: string,
  run: string,
  wire: ReturnType<typeof wireOf>,
): Promise<boolean> {
  const seq = await deps.log.startOf(session, run)
  if (seq === undefined) return false
  await serveStream(deps, request, reply, { session, run, after: seq - 1, ...wire })
  return true
}

const isConflict = (error: unknown): boolean => error instanceof MillraceError && error.code === 'conflict'

/** The session of the thread, made if need be. */
async function thread(
  { log }: HttpDeps,
  request: FastifyRequest,
  { threadId: id, input }: AgUiRequest,
  agent: string,
): Promise<LoadedSession> {
  let known = await log.get(id)
  if (known === undefined) {
    try {
      return loadSession(log, await log.create({ id, user: userFor(request), agent, title: titleOf(input) }))
    } catch (error) {
      // Another request for this thread has created it meanwhile.
      known = isConflict(error) ? await log.get(id) : undefined
      if (known === undefined) throw error
    }
  }
  if (!mayTouch(request, known)) throw new MillraceError('not-found', `no thread ${id}`)
  return loadSession(log, known)
}

/** Protobuf only for a client that names it exactly: browsers and curl send `*\/*` and mean SSE. */
function wireOf(
  request: FastifyRequest,
  protocol: AgUiProtocol,
): { dialect: string; headers?: Record<string, string> } {
  const named = (request.headers.accept ?? '').split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === agUiProtobuf && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
  const dialect = protocol === '1' ? 'ag-ui' : 'ag-ui-0'
  return named ? { dialect: `${dialect}-protobuf`, headers: { 'content-type': agUiProtobuf } } : { dialect }
}

/** A client sends the whole conversation and state every time; this keeps what the log does not have yet. */
function newInput(input: RunInput, { facts }: LoadedSession, rows: readonly Recorded[]): RunInput {
  const seen = new Map<string, string>()
  for (const { event } of rows) {
    if (event.kind === 'agent') seen.set(event.message, '')
    if (event.kind === 'run.started') for (const message of event.input.messages) seen.set(message.id, textOf(message))
    if (event.kind === 'agent')
      for (const { functionResponse } of event.event.content?.parts ?? [])
        seen.set(`result ${functionResponse?.id}`, '')
  }
  const last = input.messages.at(-1)
  const messages = input.messages.filter((message) => {
    if (message.role === 'tool')
      return !(message.content.parts ?? []).every(({ functionResponse }) => seen.has(`result ${functionResponse?.id}`))
    if (!seen.has(message.id)) return message.role !== 'assistant' || rows.length === 0
    // Some clients give every message the id "1": the same id with another text is a new message.
    return message === last && message.role === 'user' && seen.get(message.id) !== textOf(message)
  })
  const changed = Object.entries(input.state ?? {}).filter(
    ([key, value]) => JSON.stringify(facts.state[key]) !== JSON.stringify(value),
  )
  const { state: _state, ...rest } = input
  return { ...rest, messages, ...defined({ state: changed.length === 0 ? undefined : Object.fromEntries(changed) }) }
}

const textOf = ({ content }: InputMessage): string =>
  (content.parts ?? []).map((part) => (isObject(part) ? (part.text ?? '') : '')).join('')
const titleOf = ({ messages }: RunInput): string =>
  textOf(messages.findLast(({ role }) => role === 'user') ?? { id: '', role: 'user', content: {} }).slice(0, 80)

export const agUiSurface: Surface = {
  tag: 'AG-UI',
  about: 'AG-UI 1.0: start a run, stream it',
  problemType: 'application/json',
  routes: agUiRoutes,
}
