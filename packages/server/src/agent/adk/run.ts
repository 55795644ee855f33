import {
  type BasePlugin,
  createEvent,
  createSession,
  type Event,
  isBaseAgent,
  Runner,
  type Session,
  StreamingMode,
} from '@google/adk'
import { defined, type Interrupted, isObject, MillraceError, type RunEvent, type RunInput } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { answeredBy } from '../answer-parts.ts'
import { thrownAt } from '../author-place.ts'
import { BoundedQueue } from '../bounded-queue.ts'
import type { ReadyIterator } from '../lazy-stream.ts'
import type { ModelSettings } from '../model/settings.ts'
import { problemOf } from '../problem.ts'
import { adkContent, authored, inputContents, type Past, pastOf } from './history.ts'
import { callsBeside } from './interrupts.ts'
import { type AdkRoot, LiveRun } from './live-run.ts'
import { LogMemory } from './memory.ts'
import { MillracePlugin, RepeatedTurns } from './plugin.ts'
import { AuthorPlugins, OwnPlugins } from './run-plugins.ts'
import { type AdkLimits, openScope } from './scope.ts'
import { RunSessions } from './session.ts'
import { useToolsets } from './toolsets.ts'
import type { Tree } from './tree.ts'

export interface AdkOptions {
  readonly name: string
  readonly settings: ModelSettings
  readonly limits: AdkLimits
  readonly resumable: boolean
}

export interface AdkProgram {
  readonly root: AdkRoot
  readonly tree: Tree
  /** The plugins of the author's App. */
  readonly plugins: readonly BasePlugin[]
}

/** How many events may wait for the log before the model has to wait. */
const buffer = 256

/** The reason of every abort here: without one, Node makes a DOMException with a stack each time. */
const over = new MillraceError('cancelled', 'the run is over')

/** One run of an ADK agent, as canonical events. */
export function runAdk(
  program: AdkProgram,
  input: RunInput,
  context: RunContext,
  options: AdkOptions,
): AsyncIterable<RunEvent> {
  const stop = new AbortController()
  const out = new BoundedQueue<RunEvent>(buffer, () => stop.abort(over))
  const leave = (): void => {
    stop.abort(context.signal.reason)
    out.end()
  }
  if (context.signal.aborted) {
    leave()
    return out
  }
  const toolsets = useToolsets(program.tree.toolsets)
  // A tool that ignores the abort must not keep its MCP server alive.
  stop.signal.addEventListener('abort', () => void toolsets.release(), { once: true })
  context.signal.addEventListener('abort', leave, { once: true })
  const past = pastOf(context.history, program.root.name, context.resumed ? context.run : undefined)
  const run = new LiveRun({ ...options, ...program, input, context, past, signal: stop.signal, out })
  void drive(program, run, past, input, context, options.name).finally(() => {
    context.signal.removeEventListener('abort', leave)
    stop.abort(over)
    out.end()
  })
  const iterator: ReadyIterator<RunEvent> = {
    ready: () => out.ready(),
    next: () => out.next(),
    async return() {
      const end = await out.return()
      await toolsets.release()
      return end
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

/** Reads ADK's stream to its end. Never rejects: an error becomes the run's failure. */
async function drive(
  { root, plugins }: AdkProgram,
  run: LiveRun,
  past: Past,
  input: RunInput,
  context: RunContext,
  app: string,
): Promise<void> {
  try {
    // The error that ends a resumed run may be in the log already.
    if (run.failure !== undefined) return run.end()
    if (waitsForMore(past, input, context)) {
      run.wait()
      return
    }
    const { session, message } = sessionOf(run, past, input, context, app, root.name)
    // A plugin of the author may have to approve each tool first, and ADK asks it call by call: then nothing runs in parallel.
    const plugin = new MillracePlugin(run, plugins.length === 0, past.calls.keys())
    const runner = new Runner({
      appName: app,
      agent: root,
      sessionService: new RunSessions(session, context.resumed),
      artifactService: run.artifacts,
      memoryService: new LogMemory(context),
      // ADK resumes the agent that asked. In a pipeline, and after a crash, the root must run instead.
      resumabilityConfig: { isResumable: run.resumption === undefined },
    })
    const manager =
      plugins.length === 0
        ? new OwnPlugins([plugin])
        : new AuthorPlugins([new RepeatedTurns(plugin), ...plugins, plugin])
    Reflect.set(runner, 'pluginManager', manager)
    const first = isBaseAgent(root) ? root.findAgent(run.resumption?.first ?? '') : undefined
    // ADK begins with the agent that spoke last; a resumed run begins where it began before.
    if (first !== undefined) Reflect.set(runner, 'determineAgentForResumption', () => first)
    openScope(runner.pluginManager, run.scope())
    const stream = runner.runAsync({
      userId: context.user,
      sessionId: context.session,
      newMessage: message,
      abortSignal: run.signal,
      runConfig: {
        streamingMode: isStreaming(input) ? StreamingMode.SSE : StreamingMode.NONE,
        maxLlmCalls: run.limits.maxLlmCallsPerRun + 1,
      },
    })
    for await (const event of stream) {
      const passed = pass(run, plugin, session, event)
      if (passed !== undefined) await passed
      if (run.failure !== undefined) break
    }
  } catch (error) {
    if (!run.signal.aborted) {
      const problem = problemOf(error)
      const thrown = thrownAt(error, `the agent ${root.name}`, problem.message)
      if (thrown !== undefined) run.emit(thrown)
      run.fail(problem)
    }
  }
  run.end()
}

/**
 * Whether the input answers some of the client's calls of one turn and not the others: the model needs them all. The
 * answer is in the log, and the run that brings the last one goes on. A message of the user goes on without them.
 */
function waitsForMore({ interrupts }: Past, input: RunInput, { history, resumed }: RunContext): boolean {
  if (resumed || input.messages.some(({ role }) => role === 'user')) return false
  const answered = answeredBy(input, interrupts)
  const tools = new Set(
    history
      .flatMap(({ event }) => (event.kind === 'run.started' ? (event.input.tools ?? []) : []))
      .map(({ name }) => name),
  )
  const turnOf = ({ id, reason, payload }: Interrupted): string | undefined => {
    const isClients = reason === 'tool_call' && isObject(payload) && tools.has(String(payload.tool))
    return isClients ? history.findLast(({ event }) => event.kind === 'interrupt' && event.id === id)?.run : undefined
  }
  const turns = new Set([...answered.values()].map(turnOf))
  turns.delete(undefined)
  return [...interrupts.values()].some((one) => !answered.has(one.id) && turns.has(turnOf(one)))
}

/** Delivers one event of ADK's stream. The caller awaits the promise, if there is one. */
function pass(run: LiveRun, plugin: MillracePlugin, session: Session, event: Event): Promise<void> | undefined {
  const node = run.nodes.nodeOf(event)
  run.deliver(event, node)
  const beside = event.partial === true ? [] : callsBeside(event, session.events)
  if (beside.length > 0) return passBeside(run, plugin, session, event, beside)
  run.nodes.delivered(event)
  return run.room()
}

async function passBeside(
  run: LiveRun,
  plugin: MillracePlugin,
  session: Session,
  event: Event,
  beside: ReturnType<typeof callsBeside>,
): Promise<void> {
  const answered = await answersBeside(event, beside, plugin)
  session.events.push(...answered)
  for (const answer of answered) run.deliver(answer, run.nodes.nodeOf(event))
  run.nodes.delivered(event)
  await run.room()
}

/** ADK's session, built from the log, and the new message. */
function sessionOf(
  run: LiveRun,
  past: Past,
  input: RunInput,
  context: RunContext,
  app: string,
  agent: string,
): { readonly session: Session; readonly message: NonNullable<Event['content']> } {
  const contents = past.input ?? inputContents(input, past.interrupts, past.calls)
  const message = contents.at(-1)
  if (message === undefined || message.role === 'model') {
    const [lost] = input.messages
      .flatMap(({ content }) => content.parts ?? [])
      .flatMap((part) => part.functionResponse ?? [])
    if (lost?.id !== undefined)
      throw new MillraceError('invalid', `unknown function call ${lost.id}: answer one that this session has made`)
    throw new MillraceError('invalid', 'no message to answer: send a user message, or answers to what was asked')
  }
  // A resumed run has its own messages in its history; an interrupted turn is left out, because it is repeated.
  const before = context.resumed ? [] : contents.slice(0, -1)
  const { resumption } = run
  const events =
    resumption === undefined ? past.events : past.events.filter((event) => !resumption.isOpenTurn(event.id))
  for (const content of before) events.push(createEvent({ invocationId: context.run, ...authored(content, agent) }))
  const session = createSession({
    id: context.session,
    appName: app,
    userId: context.user,
    state: structuredClone(context.state) as Record<string, unknown>,
    events,
    lastUpdateTime: context.now(),
  })
  return { session, message: adkContent(message) }
}

/**
 * `props.partials: false` asks the model for whole answers. ADK's own `streaming: false` does not: it is about what one
 * client reads, but the log serves every client, such as the page that watches the run.
 */
function isStreaming({ props }: RunInput): boolean {
  return props?.partials !== false
}

/**
 * When one tool of a turn asks for confirmation, ADK discards the answers of the others, although they ran. They are
 * delivered after the question, so that the log has them and the next turn's history is complete.
 */
async function answersBeside(
  event: Event,
  calls: ReturnType<typeof callsBeside>,
  plugin: MillracePlugin,
): Promise<readonly Event[]> {
  const answers = await plugin.toolCalls.answered(calls.map(({ id }) => id))
  if (answers.length === 0) return []
  const parts = answers.map(({ id, response }) => ({
    functionResponse: { id, name: calls.find((call) => call.id === id)?.name ?? '', response: { ...response } },
  }))
  const { invocationId, author, branch } = event
  return [
    createEvent({
      invocationId,
      ...defined({ author, branch }),
      content: { role: 'user', parts },
    }),
  ]
}
