import { createEvent, createSession, type Event, Runner, StreamingMode } from '@google/adk'
import {
  adkIngest,
  isObject,
  MillraceError,
  type Problem,
  type RunEvent,
  type RunInput,
  type Usage,
} from '@millrace/core'
import type { RunContext } from '../agent.ts'
import type { ModelSettings } from '../model/settings.ts'
import { LogArtifacts } from './artifacts.ts'
import { adkContent, authored, inputContents, instructionsOf, pastOf } from './history.ts'
import { turnBeside, waiting } from './interrupts.ts'
import { isNested } from './nested.ts'
import { nodeTracker } from './nodes.ts'
import { outlet } from './outlet.ts'
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
export async function* runAdk(
  program: AdkProgram,
  input: RunInput,
  context: RunContext,
  options: AdkOptions,
): AsyncGenerator<RunEvent, void> {
  const stop = new AbortController()
  const out = outlet<RunEvent>()
  const leave = (): void => {
    stop.abort(context.signal.reason)
    out.end()
  }
  if (context.signal.aborted) return
  context.signal.addEventListener('abort', leave, { once: true })
  const running = runningAdk(program, input, context, options, stop.signal, out)
  const pumped = running.pump().then(() => out.end(), out.end)
  try {
    for await (const event of out) yield event
    if (context.signal.aborted) return
    await pumped
    yield* running.ending()
  } finally {
    context.signal.removeEventListener('abort', leave)
    stop.abort()
    out.end()
  }
}

interface RunningAdk {
  /** Reads ADK to its end. */
  pump(): Promise<void>
  ending(): readonly RunEvent[]
}

function runningAdk(
  { root, tree }: AdkProgram,
  input: RunInput,
  context: RunContext,
  { name, settings, limits }: AdkOptions,
  signal: AbortSignal,
  out: ReturnType<typeof outlet<RunEvent>>,
): RunningAdk {
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
    room: out.room,
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
      const beside = await answeredBeside(event, session.events, plugin)
      if (beside !== undefined) {
        session.events.push(beside)
        deliver(beside, node)
      }
      nodes.delivered(event)
      if (failure !== undefined) break
      await out.room()
    }
  }

  return {
    async pump() {
      const release = useToolsets(tree.toolsets)
      try {
        await pump()
      } catch (error) {
        if (signal.aborted) return
        fail(problemOf(error))
      } finally {
        nodes.closeAll(failure)
        release()
      }
    },
    ending() {
      const interrupts = failure === undefined ? asked.interrupts() : []
      return [...interrupts, finished(failure, interrupts.length > 0, usage.total(run.modelCalls))]
    },
  }
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
  events: readonly Event[],
  plugin: MillracePlugin,
): Promise<Event | undefined> {
  const calls = turnBeside(event, events)
  if (calls.length === 0) return undefined
  const answers = await plugin.turns.answered(calls.map(({ id }) => id))
  if (answers.length === 0) return undefined
  const parts = answers.map(({ id, response }) => ({
    functionResponse: { id, name: calls.find((call) => call.id === id)?.name ?? '', response: { ...response } },
  }))
  return createEvent({
    invocationId: event.invocationId,
    ...(event.author === undefined ? {} : { author: event.author }),
    ...(event.branch === undefined ? {} : { branch: event.branch }),
    content: { role: 'user', parts },
  })
}

/** A copy that nobody changes later. What a tool or callback put in that is not JSON fails the run, by name. */
function jsonEvent(event: Event): unknown {
  try {
    return JSON.parse(JSON.stringify(event))
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
    const keys = Object.keys(isObject(event.actions.stateDelta) ? event.actions.stateDelta : {})
    const where = keys.length === 0 ? '' : ` (state keys: ${keys.join(', ')})`
    throw new MillraceError('agent-error', `'${event.author}' yielded an event that is not JSON${where}: ${reason}`)
  }
}
