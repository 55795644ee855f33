import { problemIn } from '../../event/problem.ts'
import type { Outcome, RunEvent, Task, TaskStatus } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { argsOf, type MessageAuthor, responseFromResult } from '../bare-text/message-builder.ts'
import { keepFields } from '../kept-fields.ts'
import type { PlanFrameResult, PlanRun } from './run.ts'

/** The fields that have a canonical place. Any other field of a frame is kept with its event. */
const known = {
  content: new Set(['type', 'content', 'taskId']),
  taskSelected: new Set(['type', 'taskId']),
  toolCall: new Set(['type', 'taskId', 'tool', 'input', 'callId']),
  toolResult: new Set(['type', 'taskId', 'tool', 'output', 'callId']),
  artifactCreated: new Set(['type', 'taskId', 'artifactId', 'name', 'artifactType', 'version']),
  dataModified: new Set(['type', 'taskId', 'dataItemId', 'operation', 'itemType', 'item']),
  taskCompleted: new Set(['type', 'taskId', 'status', 'result']),
  reflection: new Set(['type', 'taskId', 'text']),
  error: new Set(['type', 'taskId', 'error']),
  done: new Set(['type', 'summary', 'outcome', 'problem']),
}

/** Reads a frame of the contract, or one that its server has learnt to send since. */
export function readPlan(run: PlanRun, payload: JsonObject): PlanFrameResult {
  switch (payload.type) {
    case 'content':
      return content(run, payload)
    case 'tasks_updated':
      return tasksUpdated(run, payload)
    case 'task_selected':
      return taskSelected(run, payload)
    case 'tool_call':
      return toolCall(run, payload)
    case 'tool_result':
      return toolResult(run, payload)
    case 'artifact_created':
      return artifactCreated(run, payload)
    case 'artifact_deleted':
      return artifactDeleted(run, payload)
    case 'data_modified':
      return dataModified(payload)
    case 'task_completed':
      return taskCompleted(run, payload)
    case 'reflection':
      return reflection(payload)
    case 'error':
      return failed(run, payload)
    case 'done':
      return done(run, payload)
    case 'paused':
      run.paused = typeof payload.reason === 'string' ? payload.reason : ''
      return [...run.speech.close(), noted(payload, `paused: ${run.paused}`)]
    case 'execution_summary':
      return [noted(payload, typeof payload.summary === 'string' ? payload.summary : 'summary')]
    case 'connection':
    case 'tasks_extracting':
    case 'artifact_analysis_start':
    case 'artifact_analysis_complete':
    case 'summary_creating':
    case 'resumed':
      return [noted(payload, payload.type.replaceAll('_', ' '))]
    default:
      return 'unknown event'
  }
}

function content(run: PlanRun, payload: JsonObject): PlanFrameResult {
  if (typeof payload.content !== 'string') return 'content has no text'
  const events = run.speech.delta(speakerOf(run, payload), payload.content)
  return keepFields('plan', events, payload, known.content)
}

function tasksUpdated(run: PlanRun, payload: JsonObject): PlanFrameResult {
  if (!Array.isArray(payload.tasks)) return 'tasks_updated has no tasks'
  const read = payload.tasks.map(taskOf)
  const tasks = read.flatMap((each) => (each === undefined ? [] : [each.task]))
  if (tasks.length < read.length) return 'a task has no id, title or status'
  const rest = read.map((each) => each?.rest ?? {})
  const extra = rest.some((each) => Object.keys(each).length > 0) ? { extra: { plan: { tasks: rest } } } : {}
  return [...run.speech.close(), { kind: 'tasks', tasks, ...extra }]
}

/** Reads a task, also as a row of the server's database: snake_case, null for absent. */
function taskOf(value: Json, index: number): { task: Task; rest: JsonObject } | undefined {
  if (!isJsonObject(value)) return undefined
  const {
    id,
    title,
    description,
    status,
    order,
    result,
    reflection,
    sessionId,
    session_id,
    createdAt,
    created_at,
    ...rest
  } = value
  if (typeof id !== 'string' || typeof title !== 'string' || !isTaskStatus(status)) return undefined
  const created = createdAt ?? created_at
  const task: Task = {
    id,
    title,
    ...(typeof description === 'string' ? { description } : {}),
    status,
    order: typeof order === 'number' ? order : index,
    ...(typeof result === 'string' ? { result } : {}),
    ...(typeof reflection === 'string' ? { reflection } : {}),
    ...(typeof created === 'string' ? { createdAt: created } : {}),
  }
  return { task, rest }
}

function isTaskStatus(value: Json | undefined): value is TaskStatus {
  return value === 'pending' || value === 'in_progress' || value === 'done' || value === 'failed'
}

function taskSelected(run: PlanRun, payload: JsonObject): PlanFrameResult {
  const { taskId: task } = payload
  if (typeof task !== 'string') return 'task_selected has no taskId'
  run.errors.delete(task)
  return keepFields('plan', [...run.speech.close(), { kind: 'task.started', task }], payload, known.taskSelected)
}

function toolCall(run: PlanRun, payload: JsonObject): PlanFrameResult {
  const { tool, input, callId } = payload
  if (typeof tool !== 'string') return 'tool_call has no tool'
  const { id } = run.calls.call(tool, typeof callId === 'string' ? callId : undefined)
  const events = run.speech.call(speakerOf(run, payload), id, tool, argsOf(input))
  return keepFields('plan', events, payload, known.toolCall)
}

function toolResult(run: PlanRun, payload: JsonObject): PlanFrameResult {
  const { tool, output, callId } = payload
  if (typeof tool !== 'string') return 'tool_result has no tool'
  const { id } = run.calls.result(tool, typeof callId === 'string' ? callId : undefined)
  const events = run.speech.result(speakerOf(run, payload), id, tool, responseFromResult(output ?? null))
  return keepFields('plan', events, payload, known.toolResult)
}

function artifactCreated(run: PlanRun, payload: JsonObject): PlanFrameResult {
  const { artifactId: id, name, artifactType: type, version } = payload
  if (typeof id !== 'string' || typeof name !== 'string') return 'artifact_created has no artifactId or name'
  const own = typeof version === 'number' ? version : (run.versions.get(id) ?? 0) + 1
  run.versions.set(id, own)
  const event: RunEvent = {
    kind: 'artifact',
    id,
    name,
    type: typeof type === 'string' ? type : 'other',
    version: own,
    ...taskIn(payload),
  }
  return keepFields('plan', [event], payload, known.artifactCreated)
}

function artifactDeleted(run: PlanRun, payload: JsonObject): PlanFrameResult {
  const { artifactId: id, name, artifactType: type, version } = payload
  if (typeof id !== 'string' || typeof name !== 'string') return 'artifact_deleted has no artifactId or name'
  const event: RunEvent = {
    kind: 'artifact',
    id,
    name,
    type: typeof type === 'string' ? type : 'other',
    version: typeof version === 'number' ? version : (run.versions.get(id) ?? 1),
    ...taskIn(payload),
    deleted: true,
  }
  return keepFields('plan', [event], payload, known.artifactCreated)
}

function dataModified(payload: JsonObject): PlanFrameResult {
  const { dataItemId: id, operation, itemType, item } = payload
  if (typeof id !== 'string') return 'data_modified has no dataItemId'
  if (operation !== 'create' && operation !== 'update' && operation !== 'delete') return 'unknown operation'
  const event: RunEvent = {
    kind: 'data',
    id,
    operation,
    itemType: typeof itemType === 'string' ? itemType : '',
    ...(item === undefined ? {} : { item }),
    ...taskIn(payload),
  }
  return keepFields('plan', [event], payload, known.dataModified)
}

function taskCompleted(run: PlanRun, payload: JsonObject): PlanFrameResult {
  const { taskId: task, status, result } = payload
  if (typeof task !== 'string') return 'task_completed has no taskId'
  if (status !== 'done' && status !== 'failed') return 'unknown status'
  // A failure without an `error` before it is printed again without one.
  const bare = status === 'failed' && !run.errors.has(task)
  const event: RunEvent = {
    kind: 'task.finished',
    task,
    status,
    result: typeof result === 'string' ? result : '',
    ...(bare ? { extra: { plan: { bare } } } : {}),
  }
  return keepFields('plan', [...run.speech.close(), event], payload, known.taskCompleted)
}

function reflection(payload: JsonObject): PlanFrameResult {
  const { taskId: task, text } = payload
  if (typeof task !== 'string' || typeof text !== 'string') return 'reflection has no taskId or text'
  return keepFields('plan', [{ kind: 'task.reflected', task, text }], payload, known.reflection)
}

function failed(run: PlanRun, payload: JsonObject): PlanFrameResult {
  const { error, taskId: task } = payload
  if (typeof error !== 'string') return 'error has no text'
  if (run.phase === 'finished') return 'the run has already ended'
  if (typeof task === 'string') {
    run.troubled = { task, error }
    run.errors.add(task)
    return keepFields('plan', run.speech.error(speakerOf(run, payload), error), payload, known.error)
  }
  // If this one were an event, it would be printed before the error that counts, and readers would take it for that
  // one.
  if (run.failure !== undefined) return [{ kind: 'log', level: 'error', message: error }]
  run.failure = error
  return run.speech.close()
}

function done(run: PlanRun, payload: JsonObject): PlanFrameResult {
  if (run.phase === 'finished') return 'the run has already ended'
  const { summary, outcome, problem } = payload
  const { failure } = run
  const error =
    failure === undefined
      ? problemIn(problem)
      : { code: 'agent-error' as const, ...problemIn(problem), message: failure }
  const stated = isOutcome(outcome) ? outcome : run.paused === undefined ? 'done' : 'cancelled'
  const event: RunEvent = {
    kind: 'run.finished',
    outcome: failure === undefined ? stated : 'failed',
    ...(error === undefined ? {} : { error }),
    ...(isJsonObject(summary) && !isFolded(run, summary) ? { result: { summary } } : {}),
  }
  return keepFields('plan', [...lastText(run, payload), event], payload, known.done)
}

/** The `done` of a chat may repeat the whole text, cleaned. It replaces the streamed text, or is the only text. */
function lastText(run: PlanRun, payload: JsonObject): readonly RunEvent[] {
  if (typeof payload.content !== 'string') return run.speech.close()
  const said = run.speech.whole(speakerOf(run, payload), payload.content)
  return said.map((event) => ({ ...event, extra: { plan: { implied: true } } }))
}

/** Whether the summary equals the one that the tasks give: then it need not be kept. */
function isFolded({ tasks }: PlanRun, summary: JsonObject): boolean {
  const { total, completed, failed, ...more } = summary
  const own = tasks.summary
  const same = total === own.total && completed === own.completed && failed === own.failed
  return tasks.executes && same && Object.keys(more).length === 0
}

function isOutcome(value: Json | undefined): value is Outcome {
  return value === 'done' || value === 'cancelled' || value === 'interrupted'
}

/** An event that the contract does not have: a log record, printed again as it came. */
function noted(payload: JsonObject, message: string): RunEvent {
  return { kind: 'log', level: 'info', message, data: payload, extra: { plan: { event: true } } }
}

function speakerOf(run: PlanRun, payload: JsonObject): MessageAuthor {
  const { taskId: task } = payload
  return typeof task === 'string' ? { author: run.author, task } : run.speaker
}

function taskIn({ taskId: task }: JsonObject): { task?: string } {
  return typeof task === 'string' ? { task } : {}
}

/** The types of this wire by which it is recognised. */
const recognised: ReadonlySet<unknown> = new Set([
  'content',
  'tasks_extracting',
  'tasks_updated',
  'task_selected',
  'tool_call',
  'tool_result',
  'artifact_created',
  'artifact_deleted',
  'data_modified',
  'task_completed',
  'reflection',
  'error',
  'done',
])

/** The event line of a plan frame repeats its type, or is absent. */
export function isPlanFrame({ event = 'message' }: Frame, value: JsonObject | undefined): boolean {
  return recognised.has(value?.type) && (event === 'message' || event === value?.type)
}
