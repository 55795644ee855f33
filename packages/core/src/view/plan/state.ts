import type { AdkFunctionCall, AdkFunctionResponse } from '../../event/adk-event.ts'
import type { DataChanged, Task, TaskStatus } from '../../event/run-event.ts'
import type { TaskChangeMade } from '../../event/task-undo.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import type { OpenText } from '../open-text.ts'

/**
 * The phase of the plan. `paused`: an execution ended before every task was finished (stopped, failed, waiting for a
 * person), so it can go on.
 */
export type PlanMode = 'planning' | 'executing' | 'completed' | 'paused'

export interface PlanState {
  readonly mode: PlanMode
  /** In their order. A task that was never listed, only executed, has no title. */
  readonly tasks: Sequence<PlanTask>
  /** The task being worked on. */
  readonly current?: string
  readonly artifacts: Sequence<PlanArtifact>
  readonly data: Sequence<PlanData>
  readonly reflections: Sequence<PlanReflection>
  readonly summary: { readonly total: number; readonly completed: number; readonly failed: number }
  /** The run that executes the plan. */
  readonly executing?: string
  /** Tasks that were removed. A run that is still at work on one does not bring it back. */
  readonly removed: Dictionary<true>
  /** The positions of tasks, artifacts and data items in their lists, by id. */
  readonly taskAt: Dictionary<number>
  readonly artifactAt: Dictionary<number>
  readonly dataAt: Dictionary<number>
  /** The calls that a response may belong to; those without an id queue up by their name. */
  readonly open: Dictionary<OpenCalls>
  /** The text and calls of each message, by run and message, so that they can be withdrawn. */
  readonly given: Dictionary<Given>
  /** What the facts of the nodes of each open run replaced, by run and node: a crash may undo them. */
  readonly undo: Dictionary<Dictionary<Sequence<Undo>>>
  /** Text still streaming, by run and message; its aggregate replaces it. */
  readonly streaming: Dictionary<Dictionary<OpenText>>
}

export interface PlanTask extends Task {
  /** The event that made it known. */
  readonly since: number
  /** Every status it has had, and whether an agent or a person set it. */
  readonly changes: Sequence<TaskChange>
  readonly calls: Sequence<PlanCall>
  readonly content: Sequence<PlanText>
  /** The last time a person changed its words or its place. */
  readonly edited?: number
  readonly startedAt?: number
  readonly finishedAt?: number
}
export interface TaskChange {
  readonly status: TaskStatus
  readonly seq: number
  readonly at: number
  readonly by: 'agent' | 'user'
}

export interface PlanCall {
  readonly id?: string
  readonly name: string
  readonly args?: AdkFunctionCall['args']
  readonly seq: number
  readonly response?: AdkFunctionResponse['response']
  readonly answered?: number
  readonly superseded?: true
}

/** Text of an agent that works on a task. */
export interface PlanText {
  readonly message: string
  readonly author: string
  readonly text: string
  readonly seq: number
  readonly superseded?: true
}

export interface PlanArtifact {
  readonly id: string
  readonly name: string
  readonly type: string
  /** The latest version. */
  readonly version: number
  readonly seq: number
  /** The event that holds the content of the latest version; absent when the wire only announced it. */
  readonly content?: number
  readonly task?: string
  readonly deleted?: true
}

export interface PlanData {
  readonly id: string
  readonly itemType: string
  readonly item?: DataChanged['item']
  readonly seq: number
  readonly task?: string
  readonly deleted?: true
}

export interface PlanReflection {
  readonly task: string
  readonly text: string
  readonly seq: number
}

export interface OpenCalls {
  readonly places: Sequence<number>
  readonly next: number
}
export interface Given {
  readonly task: string
  /** `since` of the task: a task that was dropped and planned again under the same id is a new one. */
  readonly since: number
  readonly content?: number
  readonly calls: Sequence<number>
}

/** What a fact of a node replaced: a data item, an artifact, a task, or the whole list of tasks. */
export type Undo =
  | { readonly kind: 'data'; readonly id: string; readonly seq: number; readonly before: PlanData | undefined }
  | { readonly kind: 'artifact'; readonly id: string; readonly seq: number; readonly before: PlanArtifact | undefined }
  | ({ readonly kind: 'tasks'; readonly seq: number; readonly mode: Changing<PlanMode> } & TaskChangeMade<PlanTask>)
interface Changing<T> {
  readonly before: T
  readonly after: T
}

export const emptyPlan: PlanState = {
  mode: 'planning',
  tasks: Sequence.empty,
  artifacts: Sequence.empty,
  data: Sequence.empty,
  reflections: Sequence.empty,
  summary: { total: 0, completed: 0, failed: 0 },
  removed: Dictionary.empty,
  taskAt: Dictionary.empty,
  artifactAt: Dictionary.empty,
  dataAt: Dictionary.empty,
  open: Dictionary.empty,
  given: Dictionary.empty,
  undo: Dictionary.empty,
  streaming: Dictionary.empty,
}
