import type { AdkEvent } from '../../event/adk-event.ts'
import { callOf, partsOf, responseOf } from '../../event/parts.ts'
import type {
  AgentSaid,
  ArtifactSaved,
  DataChanged,
  Recorded,
  RunEvent,
  RunFinished,
  Superseded,
  Task,
} from '../../event/run-event.ts'
import { isPartial } from '../../event/streaming.ts'
import type { Frame } from '../../frame/frame.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { printString } from '../../json/print-string.ts'
import { type CallIds, callIds } from '../bare-text/call-ids.ts'
import { resultFromResponse } from '../bare-text/message-builder.ts'
import { printForeignFrame } from '../bare-text/raw-frame.ts'
import { type TextPiece, type TextTurns, textTurns } from '../bare-text/text-turns.ts'
import type { Encoder, EncoderOptions } from '../dialect.ts'
import { keptFields, noFields } from '../kept-fields.ts'
import { PlanItems } from './items.ts'
import { PlanTasks } from './tasks.ts'

interface PrintedRun {
  readonly id: string
  readonly calls: CallIds
  readonly turns: TextTurns
  /** The task that the run works on. */
  task: string | undefined
  /** The tasks for which an `error` was printed. */
  readonly troubled: Set<string>
  over: boolean
}

/** Prints any log. Streamed text is printed once; events that the wire has no form for are left out. */
export class PlanEncoder implements Encoder {
  readonly #session: string
  readonly #tasks = new PlanTasks()
  readonly #artifacts = new PlanItems<ArtifactSaved>()
  readonly #data = new PlanItems<DataChanged>()
  /** The version of each artifact that was printed last. */
  readonly #versions = new Map<string, number>()
  #run: PrintedRun | undefined
  #speaker = { author: '', branch: '', task: '', lane: '\n\n' }

  constructor({ session }: EncoderOptions) {
    this.#session = session
  }

  push(recorded: Recorded): readonly Frame[] {
    const { event } = recorded
    if (event.kind !== 'agent') this.#tasks.apply(event, recorded.run)
    if (event.kind === 'foreign') return event.dialect === 'plan' ? [printForeignFrame(event)] : []
    if (recorded.run === '') return this.#byPerson(event)
    // The waiting text of a run that never ended is printed before the next run begins.
    const last = this.#run
    const late = last !== undefined && last.id !== recorded.run ? say(last.turns.flush()) : undefined
    const run = this.#runOf(recorded)
    const frames = event.kind === 'agent' ? this.#agent(run, event) : this.#fact(run, event)
    return late === undefined || late.length === 0 ? frames : [...late, ...frames]
  }

  /** The wire has no start and no snapshot: a client that joins late reads the tasks over REST. */
  prelude(): readonly Frame[] {
    return []
  }

  #runOf({ run: id, event }: Recorded): PrintedRun {
    if (this.#run?.id === id && event.kind !== 'run.started') return this.#run
    this.#run = { id, calls: callIds(id), turns: textTurns(), task: undefined, troubled: new Set(), over: false }
    return this.#run
  }

  /** What a person changes while a run is read: its client must not go on with another list than the run does. */
  #byPerson(event: RunEvent): readonly Frame[] {
    if (event.kind === 'artifact' || event.kind === 'data') this.#note(event, '')
    const run = this.#run
    if (run === undefined || run.over) return []
    switch (event.kind) {
      case 'tasks':
      case 'tasks.changed':
        return [this.#list()]
      case 'artifact':
        return [this.#artifact(event, undefined, noFields)]
      case 'data':
        return [dataFrame(event, undefined)]
      default:
        return []
    }
  }

  /** Only the newest event about an item is held, without the content of an artifact. */
  #note(event: ArtifactSaved | DataChanged, run: string): void {
    if (event.kind === 'artifact') {
      const { part: _content, ...about } = event
      const known = this.#artifacts.get(event.id)
      const isOlder = known !== undefined && known.deleted !== true && event.version < known.version
      if (isOlder && event.deleted !== true) return
      this.#artifacts.set(about, run, event.node)
    } else {
      const known = this.#data.get(event.id)
      const { item = known?.operation === 'delete' ? undefined : known?.item } = event
      this.#data.set(item === undefined ? event : { ...event, item }, run, event.node)
    }
  }

  #agent(run: PrintedRun, said: AgentSaid & Pick<RunEvent, 'extra'>): Frame[] {
    const { event, node } = said
    const lane = node ?? this.#lane(event, said.task)
    // Text that was read from a `done` is printed by that `done`, and not a second time.
    const speaks = event.author !== 'user' && said.extra?.plan?.implied !== true
    if (isPartial(event)) return speaks ? say(run.turns.partial(said, lane), keptFields(said.extra, 'plan')) : []
    const frames = speaks ? say(run.turns.whole(said, lane)) : []
    const acts = this.#acts(run, event, said)
    return acts.length === 0 ? frames : [...frames, ...say(run.turns.before(lane)), ...acts]
  }

  /** The speaker without a node. Most tokens follow one of the same speaker. */
  #lane({ branch = '', author }: AdkEvent, task = ''): string {
    const last = this.#speaker
    if (last.author !== author || last.branch !== branch || last.task !== task)
      this.#speaker = { author, branch, task, lane: `${branch}\n${author}\n${task}` }
    return this.#speaker.lane
  }

  #acts(run: PrintedRun, event: AdkEvent, { task = run.task, extra }: AgentSaid & Pick<RunEvent, 'extra'>): Frame[] {
    const frames: Frame[] = []
    const more = keptFields(extra, 'plan')
    const of = task === undefined ? {} : { taskId: task }
    for (const part of partsOf(event.content)) {
      const [call, response] = [callOf(part), responseOf(part)]
      if (call !== undefined) {
        const { id, implied } = run.calls.call(call.name, call.id)
        const input = call.args ?? {}
        frames.push(json('tool_call', { ...of, tool: call.name, input, ...(implied ? {} : { callId: id }) }, more))
      }
      if (response !== undefined) {
        const { id, implied } = run.calls.result(response.name, response.id)
        const output = textOf(response.response)
        frames.push(
          json('tool_result', { ...of, tool: response.name, output, ...(implied ? {} : { callId: id }) }, more),
        )
      }
    }
    // An `error` without a task would end the run for a reader; only `run.finished` may do that.
    if (event.errorMessage !== undefined && task !== undefined) {
      run.troubled.add(task)
      frames.push(json('error', { taskId: task, error: event.errorMessage }, more))
    }
    return frames
  }

  #fact(run: PrintedRun, event: RunEvent): Frame[] {
    const own = event.extra?.plan
    const more = keptFields(event.extra, 'plan')
    switch (event.kind) {
      case 'tasks':
        return [json('tasks_updated', { tasks: event.tasks.map((task, i) => this.#task(task, own?.tasks, i)) })]
      case 'tasks.changed':
        return [this.#list()]
      case 'task.started':
        run.task = event.task
        run.troubled.delete(event.task)
        return [json('task_selected', { taskId: event.task }, more)]
      case 'task.finished': {
        const { task: taskId, status, result } = event
        if (run.task === taskId) run.task = undefined
        // A failure that the wire expressed by an error alone is printed by that error.
        if (own?.implied === true) return []
        const frame = json('task_completed', { taskId, status, result }, more)
        // A client that only handles `error` also has to learn of the failure, but of each one once.
        const silent = status === 'done' || own?.bare === true || run.troubled.has(taskId)
        return silent ? [frame] : [json('error', { taskId, error: result }), frame]
      }
      case 'task.reflected':
        return [json('reflection', { taskId: event.task, text: event.text }, more)]
      case 'artifact':
        this.#note(event, run.id)
        return [this.#artifact(event, run.task, more)]
      case 'data':
        this.#note(event, run.id)
        return [dataFrame(event, run.task, more)]
      case 'log':
        return own?.event === true && isJsonObject(event.data) && typeof event.data.type === 'string'
          ? [json(event.data.type, event.data)]
          : []
      case 'node.finished':
        return say(run.turns.end(event.node))
      case 'superseded':
        return [...say(run.turns.drop(event.messages)), ...(event.facts === true ? this.#takenBack(run, event) : [])]
      case 'run.finished':
        this.#artifacts.settle(run.id)
        this.#data.settle(run.id)
        return this.#finished(run, event)
      default:
        return []
    }
  }

  #task(task: Task, more: Json | undefined, index: number): JsonObject {
    const { id, title, description, status, order, result, reflection, createdAt } = task
    const rest: Json | undefined = Array.isArray(more) ? more[index] : undefined
    return {
      id,
      title,
      ...(description === undefined ? {} : { description }),
      status,
      order,
      sessionId: this.#session,
      ...(createdAt === undefined ? {} : { createdAt }),
      ...(result === undefined ? {} : { result }),
      ...(reflection === undefined ? {} : { reflection }),
      ...(isJsonObject(rest) ? rest : {}),
    }
  }

  #list(lost: readonly Task[] = []): Frame {
    const before = new Map(lost.map((task) => [task.id, task]))
    const tasks = this.#tasks.list.map((task, i) => this.#task(withEmpty(task, before.get(task.id)), undefined, i))
    return json('tasks_updated', { tasks })
  }

  /** The step runs again: tasks, artifacts and data are as they were before it (SPEC 4.6). */
  #takenBack(run: PrintedRun, event: Superseded): Frame[] {
    const lost = this.#tasks.list
    const frames = this.#tasks.takeBack(run.id, event) ? [this.#list(lost)] : []
    if (run.task !== undefined && this.#tasks.task(run.task)?.status !== 'in_progress') run.task = undefined
    for (const { lost: gone, before } of this.#data.takeBack(run.id, event)) {
      frames.push(...dataAgain(gone, before).map((each) => dataFrame(each, undefined)))
    }
    for (const { lost: gone, before } of this.#artifacts.takeBack(run.id, event)) {
      frames.push(this.#artifact({ ...gone, deleted: true }, undefined, noFields))
      if (before !== undefined && before.deleted !== true) frames.push(this.#artifact(before, undefined, noFields))
    }
    return frames
  }

  #artifact(event: ArtifactSaved, current: string | undefined, more: JsonObject): Frame {
    const { id: artifactId, name, type: artifactType, version, task = current } = event
    const of = { ...(task === undefined ? {} : { taskId: task }), artifactId, name, artifactType }
    if (event.deleted === true) return json('artifact_deleted', { ...of, version }, more)
    const implied = version === (this.#versions.get(artifactId) ?? 0) + 1
    this.#versions.set(artifactId, version)
    return json('artifact_created', { ...of, ...(implied ? {} : { version }) }, more)
  }

  /**
   * Every run ends with one `done`, after the `error` if it failed. That of an execution has a summary of the tasks.
   */
  #finished(run: PrintedRun, event: RunFinished & Pick<RunEvent, 'extra'>): Frame[] {
    if (run.over) return []
    run.over = true
    const { outcome, error, result } = event
    const frames = say(run.turns.flush())
    const failed = outcome === 'failed'
    if (failed) frames.push(json('error', { error: error?.message ?? 'failed' }))
    const complete = failed && error?.code === 'agent-error' && error.source === undefined
    const stated = isJsonObject(result) && isJsonObject(result.summary) ? result.summary : undefined
    const summary = stated ?? (this.#tasks.executes ? this.#tasks.summary : undefined)
    frames.push(
      json(
        'done',
        {
          ...(summary === undefined ? {} : { summary }),
          ...(outcome === 'done' || failed ? {} : { outcome }),
          ...(error === undefined || complete ? {} : { problem: { ...error } }),
        },
        keptFields(event.extra, 'plan'),
      ),
    )
    return frames
  }
}

/** A list that leaves a field out says nothing of it, so what a task has lost is printed as empty. */
function withEmpty(task: Task, lost: Task | undefined): Task {
  const fields = (['description', 'result', 'reflection'] as const).filter(
    (field) => task[field] === undefined && lost?.[field] !== undefined,
  )
  return fields.length === 0 ? task : { ...task, ...Object.fromEntries(fields.map((field) => [field, ''])) }
}

function dataFrame(event: DataChanged, current: string | undefined, more?: JsonObject): Frame {
  const { id: dataItemId, operation, itemType, item, task = current } = event
  const of = task === undefined ? {} : { taskId: task }
  return json(
    'data_modified',
    { ...of, dataItemId, operation, itemType, ...(item === undefined ? {} : { item }) },
    more,
  )
}

/** What a reader who has the lost item is told, so that it is as before: content that it never had is not taken over. */
function dataAgain(lost: DataChanged, before: DataChanged | undefined): readonly DataChanged[] {
  const gone: DataChanged = { ...lost, operation: 'delete' }
  if (before === undefined) return [gone]
  if (before.operation === 'delete') return [before]
  if (before.item === undefined && lost.item !== undefined) return [gone, { ...before, operation: 'create' }]
  return [{ ...before, operation: 'update' }]
}

/** Thoughts have no place on this wire. */
function say(pieces: readonly TextPiece[], more: JsonObject = noFields): Frame[] {
  const [only] = pieces
  // Nearly always it is one token. A list that is made by `push` has room for 17 entries.
  if (only !== undefined && pieces.length === 1) return only.thought ? [] : [contentFrame(only, more)]
  return pieces.flatMap((piece) => (piece.thought ? [] : [contentFrame(piece, more)]))
}

/** Without other fields the text is all that JSON.stringify has to print. */
function contentFrame({ text, task }: TextPiece, more: JsonObject): Frame {
  if (task === undefined && more === noFields)
    return { event: 'content', data: `{"type":"content","content":${printString(text)}}` }
  return json('content', { ...(task === undefined ? {} : { taskId: task }), content: text }, more)
}

/** The output of a tool is text on this wire: its own text as it is, everything else as JSON. */
function textOf(response: JsonObject | undefined): string {
  const result = resultFromResponse(response ?? {})
  return typeof result === 'string' ? result : JSON.stringify(result)
}

function json(event: string, fields: JsonObject, more?: JsonObject): Frame {
  return { event, data: JSON.stringify({ type: event, ...fields, ...more }) }
}
