import type { BaseAgent, Event, InvocationContext, PluginManager, SessionArtifactService } from '@google/adk'
import type { ClientTool, NodeId, Problem, RunEvent } from '@millrace/core'
import type { ModelSettings } from '../model/settings.ts'
import type { LogArtifacts } from './artifacts.ts'
import type { NodeTracker } from './nodes.ts'
import type { Resumption } from './resume.ts'

/** What one run shares with everything that ADK calls on its behalf. */
export interface AdkRun {
  readonly settings: ModelSettings
  readonly limits: AdkLimits
  readonly clientTools: readonly ClientTool[]
  /** What the client adds to every agent's system instruction: its context, its system messages. */
  readonly instructions: readonly string[]
  readonly signal: AbortSignal
  /** Rejects when the run is stopped. One promise for all who wait: a listener each would trip Node's leak warning. */
  readonly stopped: Promise<never>
  readonly nodes: NodeTracker
  readonly artifacts: LogArtifacts
  /** Set for a run that goes on after a crash. */
  readonly resumption: Resumption | undefined
  emit(event: RunEvent): void
  /** A person was asked: nothing that comes after in a pipeline may begin. */
  readonly isWaiting: boolean
  /** For an event that is there to steer ADK, and is nobody's word. */
  unseen(event: Event): Event
  /** An ADK event on its way to the log. */
  deliver(event: Event, node: NodeId | undefined): void
  /** Something to wait for while the log is behind. */
  room(): Promise<void> | undefined
  /** Model calls made, by execution of an agent. */
  readonly modelCalls: Map<NodeId | undefined, number>
  /** Executions whose model was asked and has said nothing yet. */
  readonly silent: Set<NodeId | undefined>
}

export interface AdkLimits {
  /** Model calls in one execution of one agent. ADK's own 500 is what an endless loop costs. */
  readonly maxLlmCalls: number
  /** Model calls in one run, specialists and loops included. */
  readonly maxLlmCallsPerRun: number
  /** Characters of JSON that a tool may return. */
  readonly maxToolResult: number
  /** Characters of JSON of one artifact: it goes into the log as one event. */
  readonly maxArtifact: number
}

/** Where in a run an agent stands. */
export interface Scope {
  readonly run: AdkRun
  readonly node?: NodeId
  readonly agent?: BaseAgent
  /** The function call that a specialist answers: its agents' events are nested, and it cannot ask a person. */
  readonly nested?: string
  /** The same, for the specialist's outermost agent alone: its node answers the call. */
  readonly answers?: string
  /** Inside a workflow, which keeps its own account of what is done: nothing is passed over. */
  readonly anew?: boolean
  /** Ends what this scope is part of, the run or the specialist, as failed. The first reason stands. */
  fail(problem: Problem): void
  failure(): Problem | undefined
}

/**
 * ADK builds a new context for every agent and tool, and copies only fields it knows. The plugin manager is the one
 * object that reaches all of them and is ours to make, so it carries the scope.
 */
const scopes = new WeakMap<PluginManager, Scope>()

export function scopeOf(context: InvocationContext): Scope | undefined {
  return scopes.get(context.pluginManager)
}

export function openScope(plugins: PluginManager, scope: Scope): void {
  scopes.set(plugins, scope)
}

/** A context whose descendants, and only they, are in `scope`. */
export function withScope(context: InvocationContext, scope: Scope): InvocationContext {
  const plugins: PluginManager = Object.create(context.pluginManager)
  scopes.set(plugins, scope)
  const { run, node } = scope
  const artifacts: SessionArtifactService | undefined =
    context.artifactService && Object.create(context.artifactService)
  if (artifacts !== undefined) artifacts.saveArtifact = async (request) => run.artifacts.save(request, node)
  return context.clone({ pluginManager: plugins, ...(artifacts === undefined ? {} : { artifactService: artifacts }) })
}
