import { type BasePlugin, type Event, isBaseAgent, isLlmAgent, type LlmResponse, type Runner } from '@google/adk'
import {
  type AdkEvent,
  type AgentSaid,
  adkIngest,
  type ClientTool,
  type Interrupted,
  isPartial,
  MillraceError,
  type NodeId,
  nodePath,
  type PendingCalls,
  type Problem,
  type RunEvent,
  type RunInput,
  usageOf,
} from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { answeredBy, type OpenInterrupts } from '../answer-parts.ts'
import type { BoundedQueue } from '../bounded-queue.ts'
import { CallRecorder, type OpenModelCall } from '../call-recorder.ts'
import { type ChangedPrompt, changedPrompt } from '../changed-prompt.ts'
import { type ModelSettings, secretsOf } from '../model/settings.ts'
import { isNested } from '../nested-event.ts'
import { problemOf } from '../problem.ts'
import { LogArtifacts } from './artifacts.ts'
import { instructionsOf, type Past } from './history.ts'
import { waitingCalls } from './interrupts.ts'
import { hasContent, jsonEvent, spokenEvent } from './json-event.ts'
import { NodeTracker } from './nodes.ts'
import { repeatedNodes } from './past-nodes.ts'
import { PartialPrinter } from './print-partial.ts'
import { afterAnswer, afterCrash, type Resumption } from './resume.ts'
import type { AdkLimits, AdkRun, Scope, Speaker } from './scope.ts'
import type { Tree } from './tree.ts'

export type AdkRoot = Runner['agent']

export interface LiveRunParts {
  readonly root: AdkRoot
  readonly tree: Tree
  readonly plugins: readonly BasePlugin[]
  readonly input: RunInput
  readonly context: RunContext
  readonly past: Past
  readonly settings: ModelSettings
  readonly limits: AdkLimits
  readonly resumable: boolean
  readonly signal: AbortSignal
  readonly out: BoundedQueue<RunEvent>
}

/** The state of one run while it is active: its nodes, limits, usage, and how it ends. */
export class LiveRun implements AdkRun {
  readonly settings: ModelSettings
  readonly limits: AdkLimits
  readonly clientTools: readonly ClientTool[]
  readonly instructions: readonly string[]
  readonly signal: AbortSignal
  readonly stopped: Promise<never>
  readonly nodes: NodeTracker
  readonly artifacts: LogArtifacts
  readonly resumption: Resumption | undefined
  readonly changedPrompt: ChangedPrompt | undefined
  readonly modelCalls = new Map<NodeId | undefined, number>()
  readonly silent = new Set<NodeId | undefined>()
  readonly streaming = new Set<NodeId | undefined>()
  readonly direct: boolean
  readonly openCalls = new Map<NodeId | undefined, OpenModelCall>()
  readonly calls: CallRecorder
  readonly now: () => number
  readonly #run: string
  readonly #out: BoundedQueue<RunEvent>
  readonly #ingest = adkIngest()
  readonly #printer = new PartialPrinter()
  readonly #asked: PendingCalls
  /** The questions that are in the log. */
  readonly #told = new Set<string>()
  readonly #recorded: RunContext['recorded']
  #emitted = 0
  readonly #crashed: boolean
  readonly #unseen = new Set<string>()
  #failure: Problem | undefined

  constructor({ root, tree, plugins, input, context, past, settings, limits, resumable, signal, out }: LiveRunParts) {
    this.settings = settings
    this.limits = limits
    this.clientTools = input.tools ?? []
    this.instructions = [
      ...past.instructions,
      ...(context.resumed ? [] : instructionsOf(input.messages)),
      ...(input.context ?? []).map(({ description, value }) => `${description}: ${value}`),
    ]
    this.signal = signal
    this.stopped = new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
    )
    this.stopped.catch(() => undefined)
    // A message that answers nothing starts from the beginning, as in ADK; the question stays open.
    const answered = context.resumed ? new Map() : answeredBy(input, past.interrupts)
    this.changedPrompt = changedPrompt(context)
    this.resumption = resumptionOf(root, context, answered)
    // A plugin may change partials, and a resumed run leaves out what it repeats.
    this.direct = plugins.length === 0 && this.resumption === undefined
    this.nodes = new NodeTracker(
      this,
      (node) => this.#questionsOf(node),
      this.resumption?.nodes ?? repeatedNodes(context.history, answered),
    )
    this.artifacts = new LogArtifacts(context, limits.maxArtifact, (event) => this.emit(event))
    this.#asked = waitingCalls(tree.workflows)
    this.#out = out
    this.#run = context.run
    this.calls = new CallRecorder(context, input, secretsOf(settings))
    this.now = context.now
    this.#recorded = resumable ? context.recorded : undefined
    this.#crashed = context.resumed
    for (const { event, run } of context.resumed ? context.history : []) {
      if (run === context.run && event.kind === 'agent' && !isPartial(event.event) && !isNested(event.event)) {
        this.#asked.push(event.event, event.node)
        this.#failBy(event.event)
      } else if (run === context.run && event.kind === 'interrupt') this.#told.add(event.id)
    }
  }

  get failure(): Problem | undefined {
    return this.#failure
  }

  /** The scope of the run's own agents. A specialist has its own, inside this one. */
  scope(): Scope {
    return {
      run: this,
      failure: () => this.#failure,
      fail: (problem) => this.fail(problem),
    }
  }

  get isWaiting(): boolean {
    return this.#asked.interrupts().length > 0
  }

  fail(problem: Problem): void {
    this.#failure ??= problem
  }

  unseen(event: Event): Event {
    this.#unseen.add(event.id)
    return event
  }

  emit(event: RunEvent): void {
    if (event.kind === 'interrupt') {
      if (this.#told.has(event.id)) return
      this.#told.add(event.id)
    }
    // `jsonEvent` has copied it.
    this.calls.note(event, false)
    this.#emitted += 1
    this.#out.push(event)
  }

  async recorded(): Promise<void> {
    await this.#recorded?.(this.#emitted)
  }

  room(): Promise<void> | undefined {
    return this.#out.full ? this.#out.room() : undefined
  }

  deliver(event: Event, node: NodeId | undefined): void {
    this.#printer.interrupt()
    if (this.#unseen.has(event.id) || this.resumption?.isRepeated(event) === true) return
    const taken = this.#ingested(jsonEvent(event, this.#run))
    this.emit(node === undefined ? taken : { ...taken, node })
    this.#answered(taken, node)
    if (isPartial(taken.event) || isNested(taken.event)) return
    this.#asked.push(taken.event, node)
    this.#failBy(taken.event)
  }

  speak(answer: LlmResponse, speaker: Speaker): void {
    const { node } = speaker
    if (!this.streaming.has(node) && hasContent(answer)) this.streaming.add(node)
    const event = this.#printer.next(answer, speaker) ?? this.#spoken(answer, speaker)
    this.#emitted += 1
    this.#out.pushSoon(event)
    if (answer.content?.role !== 'user') this.openCalls.get(node)?.heard()
  }

  #spoken(answer: LlmResponse, speaker: Speaker): AgentSaid {
    const { author, branch, node } = speaker
    const said: AgentSaid = { ...this.#ingested(spokenEvent(answer, this.#run, author, branch)), node }
    return this.#printer.first(said, answer, speaker) ?? said
  }

  #ingested(event: unknown): AgentSaid {
    const taken = this.#ingest(event)
    if ('reason' in taken)
      throw new MillraceError('garbage', `ADK yielded a value that is not an event: ${taken.reason}`)
    return { kind: 'agent', ...taken }
  }

  /** A workflow retries its nodes and may catch their errors; it throws when it gives up. */
  #failBy(event: AdkEvent): void {
    if (event.errorCode !== undefined && event.nodeInfo?.path === undefined) this.fail(problemOf(event))
  }

  /** One call may answer in several events: its tokens, its text, then its function calls. */
  #answered(
    { event, message }: { readonly event: AdkEvent; readonly message: string },
    node: NodeId | undefined,
  ): void {
    const open = this.openCalls.get(node)
    if (open === undefined || event.content?.role === 'user') return
    const { content, usageMetadata, finishReason, errorCode } = event
    if (content?.parts !== undefined && content.parts.length > 0) open.heard()
    if (isPartial(event)) return
    open.answered(content === undefined ? undefined : message, {
      usage: usageOf(usageMetadata),
      finishReason: typeof finishReason === 'string' ? finishReason : undefined,
      error: errorCode === undefined ? undefined : problemOf(event),
    })
  }

  endCall(node: NodeId | undefined, error?: Problem): void {
    const open = this.openCalls.get(node)
    if (open === undefined) return
    this.openCalls.delete(node)
    this.emit(open.finish(error))
  }

  /** Ends the run without calling the agent: other questions of its turn are still open. */
  wait(): void {
    this.emit({ kind: 'run.finished', outcome: 'interrupted' })
  }

  /** Emits the last events: open nodes are closed, interrupts are reported, and the run is finished. */
  end(): void {
    this.nodes.closeAll(this.#failure)
    for (const node of [...this.openCalls.keys()]) this.endCall(node, this.#failure)
    // For a resumed run the run engine adds up the usage, because part of it is in the log.
    const usage = this.#crashed ? {} : { usage: this.calls.usage }
    if (this.#failure !== undefined) {
      this.emit({ kind: 'run.finished', outcome: 'failed', error: this.#failure, ...usage })
      return
    }
    for (const question of this.#asked.interrupts()) this.emit(question)
    this.emit({ kind: 'run.finished', outcome: this.isWaiting ? 'interrupted' : 'done', ...usage })
  }

  /** The questions that a node leaves open, also those of an execution that a crash cut short and this one replaces. */
  #questionsOf(node: NodeId): readonly Interrupted[] {
    const cut = this.resumption?.nodes.cut
    return this.#asked.interrupts().flatMap((question) => {
      if (question.node === node) return [question]
      const isReplaced = question.node !== undefined && cut?.has(question.node) === true
      return isReplaced && nodePath(question.node) === nodePath(node) ? [{ ...question, node }] : []
    })
  }
}

/**
 * ADK itself continues an agent that has a model, from the session's events. It does not continue a pipeline: it would
 * start it from the beginning, or run the one agent that asked and forget the rest. A workflow tracks its own progress.
 */
function resumptionOf(root: AdkRoot, context: RunContext, answered: OpenInterrupts): Resumption | undefined {
  const isPipeline = isBaseAgent(root) && !isLlmAgent(root)
  if (context.resumed) return afterCrash(context, isPipeline)
  return answered.size === 0 || !isPipeline ? undefined : afterAnswer(context, answered)
}
