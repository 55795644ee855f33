import type { AdkPart, ArtifactSaved, FoundMessage, JsonObject, Recorded, RunEvent, RunInput } from '@millrace/core'
import type { CallRecording } from './call-recorder.ts'

/**
 * The port that every agent engine implements. An agent yields what happens, in order; the run engine records it. It never yields `run.started`; it may end with its own `run.finished` (a remote stream
 * that reports its outcome, an interrupt), otherwise returning means `done` and throwing means `failed`. The invocation id
 * of its ADK events is the run's id, as on the messages and spans of the run.
 */
export interface Agent {
  readonly name: string
  /** May load the agent's code. A failure to load is described (`error`) instead of thrown, so that listings still work. */
  describe(): Promise<AgentDescription>
  run(input: RunInput, context: RunContext): AsyncIterable<RunEvent>
}

/** The part of a description that is the same for all agents of one engine. */
export interface EngineDescription {
  /** `adk`, `langgraph`, `remote`; `broken` for an agent that could not be loaded, `loading` while it is, `python` for one to run elsewhere. */
  readonly engine: string
  /** The engine's name for people; `engine` where it is absent. */
  readonly engineLabel?: string
  readonly capabilities?: EngineCapabilities
  /** After a crash, a resumed run runs its open nodes again from their start. */
  readonly redoesNodes?: boolean
}

/** What an engine can do, for clients that ask; an absent field means that it cannot. */
export interface EngineCapabilities {
  /** Runs the tool calls of one model turn at the same time. */
  readonly parallelToolCalls?: boolean
  /** Lets the model call tools that the client brings and runs. */
  readonly clientTools?: boolean
  /** Streams the thoughts of a model that has any. */
  readonly reasoning?: boolean
  /** Takes messages while a question is open: the question stays open, and may be answered by a later run (SPEC 4.5). */
  readonly openQuestions?: boolean
  /** Goes on from the middle of an earlier run with one thing changed. */
  readonly runsOn?: boolean
  /** Lets a person change the request of one model call. */
  readonly changedPrompts?: boolean
}

export interface AgentDescription extends EngineDescription {
  readonly name: string
  /** The name for people, where its author gave one. */
  readonly title?: string
  readonly description: string
  /** For the page and for ADK's build_graph: agents or graph steps, and which may lead to which. */
  readonly graph: AgentGraph
  readonly examples: readonly string[]
  /** After a crash a run continues from its last committed step instead of failing. */
  readonly resumable: boolean
  /** Where the agent's own checkpoints are kept: in the log, or in a store that its author chose. */
  readonly checkpoints?: 'log' | 'own'
  /** The name of that store's class (`SqliteSaver`), where its author chose one. */
  readonly checkpointer?: string
  /** The model's name, and whether it is the offline model, which the page points out. */
  readonly model?: { readonly name: string; readonly offline: boolean }
  readonly tools?: readonly string[]
  /** Its code runs in a process of its own. */
  readonly isolated?: boolean
  /** Whether that process has its code loaded now. It ends after a time without runs, and the next run starts it again. */
  readonly loaded?: boolean
  /** What each tool does, by its name, where its author said it. */
  readonly toolDescriptions?: Readonly<Record<string, string>>
  /** Why it cannot run, for an agent file that did not load, or has not loaded yet. */
  readonly error?: string
  /** Why the newest edit of its file does not run: the version before it does. */
  readonly editError?: string
}

export interface AgentGraph {
  readonly nodes: readonly AgentGraphNode[]
  readonly edges: readonly { readonly from: string; readonly to: string; readonly label?: string }[]
}
export interface AgentGraphNode {
  /** The agent name, as in NodeStarted.agent; for a node inside another the path: `parent/name`. */
  readonly id: string
  readonly parent?: string
  readonly kind: 'agent' | 'tool' | 'step' | 'start' | 'end'
  readonly description?: string
  /** What its model is told, where that is a fixed text. */
  readonly instruction?: string
  /** The model that it names itself. */
  readonly model?: string
}

export interface RunContext {
  /** The key of the session in the log: where sessions have users, `idInKey` and `agentSession` make ids of it. */
  readonly session: string
  readonly run: string
  readonly user: string
  /** Every row of the session before this run (on a resumed run: also the run's own), oldest first. */
  readonly history: readonly Recorded[]
  /** What the log has after a seq now: also what a person did while the run is active. Absent where no log is behind the run. */
  readonly rowsAfter?: (seq: number) => Promise<readonly Recorded[]>
  /** The session's state as this run begins, client state merged. */
  readonly state: JsonObject
  /**
   * The seq of the newest row in `history` that the agent's engine wrote for itself (a checkpoint), if this server wrote
   * it for this user and this agent. An engine uses no other row of that kind: a user can import a session that has any.
   */
  readonly sealed?: number
  /** Whether this run continues after a crash: its own rows in `history` are then already done. */
  readonly resumed: boolean
  /** Fires on cancel, timeout, shutdown and lost lease. Must reach the model and the tools. */
  readonly signal: AbortSignal
  readonly now: () => number
  readonly newId: () => string
  /**
   * Resolves once the first `count` events that the agent has yielded in this run are durable, or the run is at its end;
   * without `count`, once every event is that was taken from the agent so far. A tool that runs before its call is durable
   * runs a second time after a crash, under another id. Absent where no log is behind the run.
   */
  readonly recorded?: (count?: number) => Promise<void>
  /** What the run shares with the other sessions of its user and agent; absent where no log is behind the run. */
  readonly shared?: SharedContext
  /** What the records of the run's model calls have; absent: no requests and no prices. */
  readonly recording?: CallRecording
}

/** Shared state is not here: the run engine records it in the session as the run begins. */
export interface SharedContext {
  /** Every version of the artifacts named `user:…`, oldest first. */
  artifacts(): Promise<readonly ArtifactSaved[]>
  /** Whole messages of the user's other conversations, the best match first. */
  search(text: string): Promise<readonly FoundMessage[]>
  /** Lets searches find what this session has now, also its own. */
  remember(): Promise<void>
}

/** Saved content of an artifact, by version. It is read from the log; the event is the only copy. */
export interface ArtifactVersion {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly version: number
  readonly part: AdkPart
}
