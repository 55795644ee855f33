import { createEvent, createSession, type Event, Runner, StreamingMode } from '@google/adk'
import { adkIngest, MillraceError, type Problem, type RunEvent, type RunInput, type Usage } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import type { ModelSettings } from '../model/settings.ts'
import { LogArtifacts } from './artifacts.ts'
import { adkContent, authored, inputContents, instructionsOf, pastOf } from './history.ts'
import { turnBeside, waiting } from './interrupts.ts'
import { jsonEvent } from './json-event.ts'
import { isNested } from './nested.ts'
import { nodeTracker } from './nodes.ts'
import { type Outlet, outlet } from './outlet.ts'
import { MillracePlugin } from './plugin.ts'
import { problemOf } from './problem.ts'
import { type AdkLimits, type AdkRun, openScope } from './scope.ts'
import { RunSessions } from './session.ts'
import { useToolsets } from './toolsets.ts'
import type { Tree } from './tree.ts'
import { usageCounter } from './usage.ts'

export type AdkRoot = Runner['agent']

export interface AdkOptions {
  readonly name: string
  readonly settings: ModelSettings
  readonly limits: AdkLimits
}

export interface AdkProgram {
  readonly root: AdkRoot
  readonly tree: Tree
}

/** One run of an ADK agent, as the events that the log takes. */
export function runAdk(
  program: AdkProgram,
  input: RunInput,
  context: RunContext,
  options: AdkOptions,
): AsyncIterable<RunEvent> {
  const stop = new AbortController()
  const out = outlet<RunEvent>(256, () => stop.abort(over))
  const leave = (): void => {
    stop.abort(context.signal.reason)
    out.end()
  }
  if (context.signal.aborted) {
    leave()
    return out
  }
  context.signal.addEventListener('abort', leave, { once: true })
  void runningAdk(program, input, context, options, stop.signal, out).finally(() => {
    context.signal.removeEventListener('abort', leave)
    stop.abort(over)
    out.end()
  })
  return out
}

/** Given as the reason, because Node makes a DOMException with its stack for every abort without one. */
const over = new MillraceError('cancelled', 'the run is over')

/** Reads ADK to its end, and says how it ended. Never rejects. */
async function runningAdk(
  { root, tree }: AdkProgram,
  input: RunInput,
  context: RunContext,
  { name, settings, limits }: AdkOptions,
  signal: AbortSignal,
  out: Outlet<RunEvent>,
): Promise<void> {
  const emit = out.push
  const nodes = nodeTracker(emit)
  const ingest = adkIngest()
  const usage = usageCounter()
  const asked = waiting(tree.workflows)
  let failure: Problem | undefined
  const fail = (problem: Problem): void => {
    failure ??= problem
  }
  const past = pastOf(context.history, root.name)
  const stopped = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
  )
  stopped.catch(() => undefined)

  const deliver: AdkRun['deliver'] = (event, node) => {
    const taken = ingest(jsonEvent(event))
    if ('reason' in taken) throw new MillraceError('garbage', `ADK yielded what is not an event: ${taken.reason}`)
    emit({ kind: 'agent', ...taken, ...(node === undefined ? {} : { node }) })
    usage.take(taken.event)
    if (taken.event.partial === true || isNested(taken.event)) return
    asked.take(taken.event, node)
    // A workflow retries its nodes and may catch what they report: it throws when it gives up.
    if (taken.event.errorCode !== undefined && taken.event.nodeInfo?.path === undefined) fail(problemOf(taken.event))
  }
  const run: AdkRun = {
    settings,
    limits,
    clientTools: input.tools ?? [],
    instructions: [
      ...past.instructions,
      ...instructionsOf(input.messages),
      ...(input.context ?? []).map(({ description, value }) => `${description}: ${value}`),
    ],
    signal,
    stopped,
    nodes,
    artifacts: new LogArtifacts(context.history, emit),
    emit,
    deliver,
    room: () => (out.full ? out.room() : undefined),
    modelCalls: new Map(),
    silent: new Set(),
  }
  const plugin = new MillracePlugin(run)

  const pump = async (): Promise<void> => {
    const contents = inputContents(input, past.interrupts)
    const message = contents.at(-1)
    if (message === undefined || message.role === 'model') {
      throw new MillraceError(
        'invalid',
        'there is no message to answer: send one by the user, or answers to what was asked',
      )
    }
    const events = [...past.events]
    for (const content of contents.slice(0, -1))
      events.push(createEvent({ invocationId: context.run, ...authored(content, root.name) }))
    const session = createSession({
      id: context.session,
      appName: name,
      userId: context.user,
      state: structuredClone(context.state) as Record<string, unknown>,
      events,
      lastUpdateTime: context.now(),
    })
    const runner = new Runner({
      appName: name,
      agent: root,
      plugins: [plugin],
      sessionService: new RunSessions(session),
      artifactService: run.artifacts,
      resumabilityConfig: { isResumable: true },
    })
    openScope(runner.pluginManager, { run, fail, failure: () => failure })
    const stream = runner.runAsync({
      userId: context.user,
      sessionId: context.session,
      newMessage: adkContent(message),
      abortSignal: signal,
      runConfig: {
        streamingMode: isStreaming(input) ? StreamingMode.SSE : StreamingMode.NONE,
        maxLlmCalls: limits.maxLlmCallsPerRun + 1,
      },
    })
    for await (const event of stream) {
      const node = nodes.nodeOf(event)
      deliver(event, node)
      const beside = event.partial === true ? [] : turnBeside(event, session.events)
      if (beside.length > 0) {
        const answered = await answeredBeside(event, beside, plugin)
        session.events.push(...answered)
        for (const answer of answered) deliver(answer, node)
      }
      nodes.delivered(event)
      if (failure !== undefined) break
      if (out.full) await out.room()
    }
  }

  const release = useToolsets(tree.toolsets)
  try {
    await pump()
  } catch (error) {
    if (!signal.aborted) fail(problemOf(error))
  }
  release()
  nodes.closeAll(failure)
  const interrupts = failure === undefined ? asked.interrupts() : []
  for (const interrupt of interrupts) emit(interrupt)
  emit(finished(failure, interrupts.length > 0, usage.total(run.modelCalls)))
}

function finished(failure: Problem | undefined, interrupted: boolean, usage: Usage): RunEvent {
  if (failure !== undefined) return { kind: 'run.finished', outcome: 'failed', error: failure, usage }
  return { kind: 'run.finished', outcome: interrupted ? 'interrupted' : 'done', usage }
}

/** `props.streaming: false` is ADK's own switch in `/run_sse`, and what `/run` means. */
function isStreaming({ props }: RunInput): boolean {
  return props?.streaming !== false
}

/**
 * When one tool of a turn asks for confirmation, ADK throws the answers of the others away, although they ran. They are
 * said after the question, so that the log has them and the next turn's history is whole.
 */
async function answeredBeside(
  event: Event,
  calls: ReturnType<typeof turnBeside>,
  plugin: MillracePlugin,
): Promise<readonly Event[]> {
  const answers = await plugin.turns.answered(calls.map(({ id }) => id))
  if (answers.length === 0) return []
  const parts = answers.map(({ id, response }) => ({
    functionResponse: { id, name: calls.find((call) => call.id === id)?.name ?? '', response: { ...response } },
  }))
  const { invocationId, author, branch } = event
  return [
    createEvent({
      invocationId,
      ...(author === undefined ? {} : { author }),
      ...(branch === undefined ? {} : { branch }),
      content: { role: 'user', parts },
    }),
  ]
}
