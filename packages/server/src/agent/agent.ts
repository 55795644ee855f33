import type { AdkPart, JsonObject, Recorded, RunEvent, RunInput } from '@millrace/core'

/**
 * The port behind which every agent engine stands: ADK, LangGraph, remote. An agent yields what happens, in order;
 * the run engine records it. It never yields `run.started`; it may end with its own `run.finished` (a remote stream
 * that says how it ended, an interrupt), otherwise returning means `done` and throwing means `failed`.
 */
export interface Agent {
  readonly name: string
  /** May load the agent's code; failures are for `describe` to tell, not for the listing to die of. */
  describe(): Promise<AgentDescription>
  run(input: RunInput, context: RunContext): AsyncIterable<RunEvent>
}

export interface AgentDescription {
  readonly name: string
  /** What people call it, where its author says so. */
  readonly title?: string
  readonly description: string
  readonly engine: 'adk' | 'langgraph' | 'remote' | 'broken'
  /** For the page and for ADK's build_graph: agents or graph steps, and who may lead to whom. */
  readonly graph: AgentGraph
  readonly examples: readonly string[]
  /** After a crash the run goes on from its last committed step instead of failing. */
  readonly resumable: boolean
  /** The model's name, and whether it is the offline one (the page says so). */
  readonly model?: { readonly name: string; readonly offline: boolean }
  readonly tools?: readonly string[]
  /** Why it cannot run, for an agent file that did not load. */
  readonly error?: string
}

export interface AgentGraph {
  readonly nodes: readonly AgentGraphNode[]
  readonly edges: readonly { readonly from: string; readonly to: string; readonly label?: string }[]
}
export interface AgentGraphNode {
  /** The agent name, as in NodeStarted.agent. */
  readonly id: string
  readonly kind: 'agent' | 'tool' | 'step' | 'start' | 'end'
  readonly description?: string
}

export interface RunContext {
  readonly session: string
  readonly run: string
  readonly user: string
  /** Every row of the session before this run (on a resumed run: also the run's own), oldest first. */
  readonly history: readonly Recorded[]
  /** The session's state as this run begins, client state merged. */
  readonly state: JsonObject
  /** Set when this run goes on after a crash: its own rows in `history` are what is already done. */
  readonly resumed: boolean
  /** Fires on cancel, timeout, shutdown and lost lease. Must reach the model and the tools. */
  readonly signal: AbortSignal
  readonly now: () => number
  readonly newId: () => string
}

/** Saved content of an artifact, by version. Read from the log; the event is the only copy. */
export interface ArtifactVersion {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly version: number
  readonly part: AdkPart
}
