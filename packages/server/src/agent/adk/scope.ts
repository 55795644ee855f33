import type {
  BaseAgent,
  Event,
  InvocationContext,
  LlmResponse,
  PluginManager,
  SessionArtifactService,
} from '@google/adk'
import { type ClientTool, defined, type NodeId, type Problem, type RunEvent } from '@millrace/core'
import type { CallRecorder, OpenModelCall } from '../call-recorder.ts'
import type { ChangedPrompt } from '../changed-prompt.ts'
import type { ModelSettings } from '../model/settings.ts'
import type { LogArtifacts } from './artifacts.ts'
import type { NodeTracker } from './nodes.ts'
import type { Resumption } from './resume.ts'

/** The part of a run that the plugin, the tools and the wrapped agents use. */
export interface AdkRun {
  readonly settings: ModelSettings
  readonly limits: AdkLimits
  readonly clientTools: readonly ClientTool[]
  /** Additions by the client to every agent's system instruction: its context, its system messages. */
  readonly instructions: readonly string[]
  readonly signal: AbortSignal
  /** Rejects when the run is stopped. One promise for all: a listener for each waiter would trip Node's leak warning. */
  readonly stopped: Promise<never>
  readonly nodes: NodeTracker
  readonly artifacts: LogArtifacts
  /** Set for a run that continues after a crash or an answer. */
  readonly resumption: Resumption | undefined
  /** The request that a person gave one model call. */
  readonly changedPrompt: ChangedPrompt | undefined
  emit(event: RunEvent): void
  /** Resolves when everything that was emitted is durable, for an agent that goes on after a crash. */
  recorded(): Promise<void>
  /** Whether a person was asked: then no later agent of a pipeline may start. */
  readonly isWaiting: boolean
  /** Marks an event that only steers ADK, and returns it: `deliver` leaves it out of the log. */
  unseen(event: Event): Event
  /** Sends an ADK event to the log. */
  deliver(event: Event, node: NodeId | undefined): void
  /** Whether partials may go to the log without passing through ADK. */
  readonly direct: boolean
  /** Sends a partial answer of a model to the log, as the event that ADK would make of it. */
  speak(answer: LlmResponse, by: Speaker): void
  /** A promise to await while the log is behind; undefined when it is not. */
  room(): Promise<void> | undefined
  /** Model calls made, by execution of an agent. */
  readonly modelCalls: Map<NodeId | undefined, number>
  /** Executions whose model has sent tokens but not yet their aggregate. */
  readonly streaming: Set<NodeId | undefined>
  /** Executions whose model was called and has not answered yet. */
  readonly silent: Set<NodeId | undefined>
  readonly calls: CallRecorder
  /** The model call that is open, by execution of an agent. */
  readonly openCalls: Map<NodeId | undefined, OpenModelCall>
  /** Records the end of the model call of this execution, if one is open. */
  endCall(node: NodeId | undefined, error?: Problem): void
  readonly now: () => number
}

/** The author of an event, and its execution. */
export interface Speaker {
  readonly author: string
  readonly branch: string | undefined
  readonly node: NodeId
}

export interface AdkLimits {
  /** Model calls in one execution of one agent. */
  readonly maxLlmCalls: number
  /** Model calls in one run, specialists and loops included. */
  readonly maxLlmCallsPerRun: number
  /** Characters of JSON that a tool may return. */
  readonly maxToolResult: number
  /** Characters of JSON of one artifact: it goes into the log as one event. */
  readonly maxArtifact: number
}

/** The position of an agent or tool inside a run. */
export interface Scope {
  readonly run: AdkRun
  readonly node?: NodeId
  readonly agent?: BaseAgent
  /** Inside a specialist: the function call it answers. Its agents' events are nested, and it cannot ask a person. */
  readonly nested?: string
  /** The same call, for the specialist's outermost agent only: its node answers the call. */
  readonly answers?: string
  /** Whether an execution of this agent goes on that a crash cut short. */
  readonly begun?: boolean
  /** Whether this is inside a workflow, which tracks its own progress: then no execution is skipped on resume. */
  readonly inWorkflow?: boolean
  /** Ends the run, or the specialist that this scope is part of, as failed. The first reason counts. */
  fail(problem: Problem): void
  failure(): Problem | undefined
}

/**
 * ADK builds a new context for every agent and tool, and copies only the fields it knows. The plugin manager is the one
 * object that reaches all of them and that we create, so the scope is attached to it.
 */
const scopes = new WeakMap<PluginManager, Scope>()

export function scopeOf(context: InvocationContext): Scope | undefined {
  return scopes.get(context.pluginManager)
}

export function openScope(plugins: PluginManager, scope: Scope): void {
  scopes.set(plugins, scope)
}

/** A copy of the context in which everything that runs with it is in `scope`. */
export function withScope(context: InvocationContext, scope: Scope): InvocationContext {
  const plugins: PluginManager = Object.create(context.pluginManager)
  scopes.set(plugins, scope)
  const { run, node } = scope
  const artifacts: SessionArtifactService | undefined =
    context.artifactService && Object.create(context.artifactService)
  if (artifacts !== undefined) artifacts.saveArtifact = async (request) => run.artifacts.save(request, node)
  return context.clone({ pluginManager: plugins, ...defined({ artifactService: artifacts }) })
}
