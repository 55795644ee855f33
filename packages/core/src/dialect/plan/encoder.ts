import type { AdkEvent } from '../../event/adk-event.ts'
import { callOf, partsOf, responseOf } from '../../event/parts.ts'
import type { AgentSaid, ArtifactSaved, Recorded, RunEvent, RunFinished, Task } from '../../event/run-event.ts'
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
  readonly #versions = new Map<string, number>()
  #run: PrintedRun | undefined
  #speaker = { author: '', branch: '', task: '', lane: '\n\n' }

  constructor({ session }: EncoderOptions) {
    this.#session = session
  }

  push(recorded: Recorded): readonly Frame[] {
    const { event } = recorded
    if (event.kind !== 'agent') this.#tasks.apply(event)
    if (event.kind === 'foreign') return event.dialect === 'plan' ? [printForeignFrame(event)] : []
    if (recorded.run === '') return []
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
        return [json('tasks_updated', { tasks: this.#tasks.list.map((task, i) => this.#task(task, undefined, i)) })]
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
        return event.deleted === true ? [] : [this.#artifact(run, event, more)]
      case 'data': {
        const { id: dataItemId, operation, itemType, item, task = run.task } = event
        const of = task === undefined ? {} : { taskId: task }
        return [
          json(
            'data_modified',
            { ...of, dataItemId, operation, itemType, ...(item === undefined ? {} : { item }) },
            more,
          ),
        ]
      }
      case 'log':
        return own?.event === true && isJsonObject(event.data) && typeof event.data.type === 'string'
          ? [json(event.data.type, event.data)]
          : []
      case 'node.finished':
        return say(run.turns.end(event.node))
      case 'superseded':
        return say(run.turns.drop(event.messages))
      case 'run.finished':
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

  #artifact(run: PrintedRun, event: ArtifactSaved, more: JsonObject): Frame {
    const { id: artifactId, name, type: artifactType, version, task = run.task } = event
    const implied = version === (this.#versions.get(artifactId) ?? 0) + 1
    this.#versions.set(artifactId, version)
    const of = task === undefined ? {} : { taskId: task }
    return json('artifact_created', { ...of, artifactId, name, artifactType, ...(implied ? {} : { version }) }, more)
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
