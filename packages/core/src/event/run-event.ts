import type { Json, JsonObject, PatchOp } from '../json/json.ts'
import type { AdkContent, AdkEvent, AdkPart } from './adk-event.ts'
import type { ModelFinished, ModelStarted, ToolFinished } from './call-record.ts'
import type { FeedbackGiven } from './feedback.ts'
import type { Problem } from './problem.ts'

/**
 * One execution of one agent or graph step inside a run: the path of agent names, then `@` and which execution of that
 * path in this run it is (`coordinator/burn_analyst@2`). So loops and fan-out stay apart.
 */
export type NodeId = string

/** One event as the log keeps it. Only the log assigns `seq` (SPEC 2.1). */
export interface Recorded {
  readonly seq: number
  /** When the log took it, in milliseconds. */
  readonly at: number
  /** The run it belongs to; '' for what a person did to the session outside any run. */
  readonly run: string
  readonly event: RunEvent
}

/**
 * A recorded event whose body is still the JSON text of the store, for readers that need not look inside.
 * `JSON.parse(body)` is the RunEvent.
 */
export interface RawRecorded {
  readonly seq: number
  readonly at: number
  readonly run: string
  readonly kind: RowKind
  readonly body: string
}

/**
 * What an event is to the log, stored beside its body: the `start` or `end` of its run, a `partial` of a message, an
 * aggregate that has the `whole` text of a message, or any `other`.
 */
export type RowKind = 'start' | 'end' | 'partial' | 'whole' | 'other'

/** An event before the log has taken it. */
export interface Draft {
  readonly run: string
  readonly event: RunEvent
  /** For history that is imported or converted: when it happened. Otherwise the log's clock decides. */
  readonly at?: number
  /** Only from a `millrace` wire: the number it has in the log it comes from. */
  readonly seq?: number
  /** The event as a store keeps it, where the writer has that already: it need not be printed again. */
  readonly printed?: PrintedEvent
}

/** An event as a store keeps it: what it is to the log, and the text that `JSON.stringify` makes of it. */
export interface PrintedEvent {
  readonly row: RowKind
  readonly text: string
  /** For a partial that shares most of its text with others of its message: `text` is `head`, `own` and `tail`. */
  readonly form?: PartialForm | undefined
  readonly own?: string | undefined
}

/**
 * The text that the partials of a message have in common. What is a partial's own begins with its time, which is the value
 * of the last field of `head`, and holds nothing besides but its id and its words.
 */
export interface PartialForm {
  readonly head: string
  readonly tail: string
}

/** The canonical event: the one vocabulary inside Millrace (SPEC 1). */
export type RunEvent = (
  | RunStarted
  | NodeStarted
  | AgentSaid
  | StateChanged
  | NodeFinished
  | ModelStarted
  | ModelFinished
  | ToolFinished
  | TasksSet
  | TasksChanged
  | TaskStarted
  | TaskFinished
  | TaskReflected
  | ArtifactSaved
  | DataChanged
  | Interrupted
  | Resumed
  | Superseded
  | FeedbackGiven
  | Changed
  | Logged
  | Foreign
  | RunFinished
) & { readonly extra?: Extra }
export type RunEventKind = RunEvent['kind']

/**
 * Fields of a dialect's frame that have no canonical place, by dialect. Only that dialect reads them, to print the frame
 * as it came (SPEC 3.4); views, stores and engines pass them on.
 */
export interface Extra {
  readonly [dialect: string]: JsonObject
}

export interface RunStarted {
  readonly kind: 'run.started'
  readonly agent: string
  readonly input: RunInput
  /** Set on the first run of a forked session: where the copy was taken. */
  readonly forkOf?: { readonly session: string; readonly seq: number }
  /** The run this one branches from or goes on with (AG-UI parentRunId). */
  readonly parent?: string
  /** The earlier runs that this one takes the place of, oldest first: what they said no longer counts (SPEC 4.7). */
  readonly replaces?: readonly ReplacedRun[]
}

/** A whole run that no longer counts, with the messages that were said or sent in it. */
export interface ReplacedRun {
  readonly run: string
  readonly messages: readonly string[]
  readonly nodes: readonly NodeId[]
}

export interface NodeStarted {
  readonly kind: 'node.started'
  readonly node: NodeId
  readonly agent: string
  /** The node that called this one. */
  readonly parent?: NodeId
  /**
   * The nodes whose end led here, where the engine knows (graph edges really taken); an empty list: none did. After an
   * answer to a question they may be nodes of the runs before, which this run goes on with.
   */
  readonly after?: readonly NodeId[]
  /** The function call this node answers, where there is one. */
  readonly call?: string
}

export interface AgentSaid {
  readonly kind: 'agent'
  readonly event: AdkEvent
  /** The stable message id: every partial and the aggregate of one message share it (SPEC 1.4). */
  readonly message: string
  readonly node?: NodeId
  readonly task?: string
  /** False: the agent's own code said it, such as a graph's step that returns a message or runs a tool. */
  readonly model?: false
}

/** A state change that no ADK event carries: client state, edits by a person, a graph's own updates. */
export interface StateChanged {
  readonly kind: 'state'
  readonly patch: readonly PatchOp[]
  readonly node?: NodeId
}

export interface NodeFinished {
  readonly kind: 'node.finished'
  readonly node: NodeId
  /** `interrupted`: it waits for a person. After the answer it runs again, under the next number of its path. */
  readonly status: 'ok' | 'error' | 'interrupted'
  readonly error?: Problem
  /** Milliseconds, when the source measured it itself; otherwise the difference of the two `at`. */
  readonly duration?: number
}

export type TaskStatus = 'pending' | 'in_progress' | 'done' | 'failed'
export interface Task {
  readonly id: string
  readonly title: string
  readonly description?: string
  readonly status: TaskStatus
  readonly order: number
  readonly result?: string
  readonly reflection?: string
  /** ISO 8601. */
  readonly createdAt?: string
}

/** The whole task list, as it is from here on. */
export interface TasksSet {
  readonly kind: 'tasks'
  readonly tasks: readonly Task[]
  readonly node?: NodeId
}
/** What changes in the task list. Tasks that are not named stay as they are, so a change repeats no list. */
export interface TasksChanged {
  readonly kind: 'tasks.changed'
  readonly changes: readonly TaskEdit[]
  readonly node?: NodeId
}
/** One task added (its id is new), edited, moved or removed. Fields that are absent stay as they are. */
export interface TaskEdit {
  readonly task: string
  readonly title?: string
  readonly description?: string
  /** `pending` opens the task again: its result and its reflection are cleared. */
  readonly status?: TaskStatus
  /** Its place in the list, from 0; the tasks from there on move back. A new task without one is the last. */
  readonly order?: number
  readonly createdAt?: string
  readonly removed?: boolean
}
export interface TaskStarted {
  readonly kind: 'task.started'
  readonly task: string
  readonly node?: NodeId
}
export interface TaskFinished {
  readonly kind: 'task.finished'
  readonly task: string
  readonly status: 'done' | 'failed'
  readonly result: string
  readonly node?: NodeId
}
export interface TaskReflected {
  readonly kind: 'task.reflected'
  readonly task: string
  readonly text: string
  readonly node?: NodeId
}

export interface ArtifactSaved {
  readonly kind: 'artifact'
  readonly id: string
  readonly name: string
  /** document, note, summary, plan, other (docs/requirements.md, R2), or another word of the producer. */
  readonly type: string
  readonly version: number
  /** The content itself; absent when the wire only announced it. */
  readonly part?: AdkPart
  readonly task?: string
  readonly node?: NodeId
  /** A person deleted it; the earlier events stay. */
  readonly deleted?: boolean
}

export interface DataChanged {
  readonly kind: 'data'
  readonly id: string
  readonly operation: 'create' | 'update' | 'delete'
  readonly itemType: string
  readonly item?: Json
  readonly task?: string
  readonly node?: NodeId
}

/** A person is asked. The run ends with outcome `interrupted` once every node waits. */
export interface Interrupted {
  readonly kind: 'interrupt'
  readonly id: string
  readonly reason: 'tool_call' | 'input_required' | 'confirmation' | (string & {})
  readonly message?: string
  /** The function call that waits for the answer. */
  readonly call?: string
  /** JSON Schema of the expected payload. */
  readonly schema?: JsonObject
  /** What is asked about, e.g. the tool's name and arguments. */
  readonly payload?: Json
  /** ISO 8601. */
  readonly expiresAt?: string
  readonly node?: NodeId
}

export interface Resumed {
  readonly kind: 'resumed'
  readonly interrupt: string
  readonly status: 'resolved' | 'cancelled'
  readonly payload?: Json
}

/** A crash interrupted a step, which now runs again: what the first attempt streamed no longer counts (SPEC 4.6). */
export interface Superseded {
  readonly kind: 'superseded'
  readonly messages: readonly string[]
  readonly nodes: readonly NodeId[]
  /** The nodes run again from their start, so the tasks, artifacts and data that they recorded no longer count either. */
  readonly facts?: true
}

/**
 * A person changed one thing of a run, and the run goes on from there in a session of its own (SPEC 1.12). The rows before
 * it are those of the run that was changed; what was changed among them is so already.
 */
export interface Changed {
  readonly kind: 'changed'
  /** The message that began the run, the state, the result of a tool, or the request of one model call. */
  readonly field: ChangedField
  readonly by: string
  /** The changed step in the session that the change was made in. */
  readonly of: { readonly session: string; readonly run: string; readonly seq: number }
  /** The agent, or the step of a graph, that the changed step belongs to. */
  readonly agent?: string
  readonly node?: NodeId
  /** The model call or the tool call. */
  readonly call?: string
  /** The name of the tool. */
  readonly name?: string
  /** What it was: a text, or the result. Absent for the state and for a request. */
  readonly before?: Json
  /** A text, a JSON Patch of the state, the result, or `system` and `contents` of a request as far as they are others. */
  readonly after: Json
}
export type ChangedField = 'message' | 'state' | 'tool' | 'prompt'

export type Level = 'debug' | 'info' | 'warn' | 'error'
export interface Logged {
  readonly kind: 'log'
  readonly level: Level
  readonly message: string
  readonly node?: NodeId
  /** Structured facts that came with it (a dialect's custom event, a debug record). */
  readonly data?: Json
}

/** A frame that could not be read: it is kept and shown, never dropped (SPEC 3.3). */
export interface Foreign {
  readonly kind: 'foreign'
  readonly dialect: string
  readonly raw: string
  readonly reason: string
}

export type Outcome = 'done' | 'failed' | 'cancelled' | 'interrupted'
export interface RunFinished {
  readonly kind: 'run.finished'
  readonly outcome: Outcome
  readonly error?: Problem
  readonly usage?: Usage
  readonly result?: Json
}

export interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly totalTokens?: number
  readonly reasoningTokens?: number
  readonly cachedInputTokens?: number
  readonly modelCalls?: number
}

/** What starts a run. */
export interface RunInput {
  /** The new messages of this run, oldest first; usually one, by the user. */
  readonly messages: readonly InputMessage[]
  /** Client state, merged into the session's before the run. */
  readonly state?: JsonObject
  /** Tools that the client runs itself; a call of one ends the run as `interrupted`, with the call pending. */
  readonly tools?: readonly ClientTool[]
  readonly context?: readonly { readonly description: string; readonly value: string }[]
  readonly resume?: readonly ResumeAnswer[]
  /** Fields of the dialect that are passed on to the agent unchanged (AG-UI forwardedProps, plan mode). */
  readonly props?: JsonObject
}
export interface InputMessage {
  readonly id: string
  readonly role: 'user' | 'system' | 'developer' | 'tool' | 'assistant'
  readonly content: AdkContent
  /** The author's name, where a client distinguishes people of one role. */
  readonly name?: string
}
export interface ClientTool {
  readonly name: string
  readonly description: string
  /** JSON Schema. */
  readonly parameters?: JsonObject
}
export interface ResumeAnswer {
  readonly interrupt: string
  readonly status: 'resolved' | 'cancelled'
  readonly payload?: Json
}
