import type { Draft, RunEvent, RunFinished } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { bareString } from '../../json/bare-string.ts'
import type { JsonObject } from '../../json/json.ts'
import { isJsonObject, parseJson } from '../../json/json.ts'
import { foreignFrame } from '../bare-text/raw-frame.ts'
import type { Decoder, DecoderOptions } from '../dialect.ts'
import { PlanRun } from './run.ts'
import { readPlan } from './wire.ts'

/** Reads the frames of a chat or an execution. The wire does not mark the start of a run: any frame begins one. */
export class PlanDecoder implements Decoder {
  session: string | undefined = undefined
  readonly #options: DecoderOptions
  #run: PlanRun
  #runs = 1

  constructor(options: DecoderOptions) {
    this.#options = options
    this.#run = new PlanRun(options.run, options.agent ?? '')
  }

  push(frame: Frame): readonly Draft[] {
    if (frame.event === undefined && frame.data === '' && frame.comment !== undefined) return []
    const text = this.#run.phase === 'open' && this.#run.troubled === undefined ? contentIn(frame) : undefined
    if (text !== undefined) return this.#token(text)
    const payload = payloadOf(frame)
    const type = typeof payload === 'string' ? undefined : payload.type
    if (this.#run.phase === 'finished' && starts(type)) {
      this.#runs += 1
      this.#run = new PlanRun(`${this.#options.run}.${this.#runs}`, this.#options.agent ?? '', this.#run)
    }
    const run = this.#run
    if (type === 'content' && typeof payload !== 'string' && run.phase === 'open' && run.troubled === undefined)
      return this.#content(frame, payload)
    // Tasks that have failed are closed before the frame is read, because a summary is compared with them.
    const before = this.#drafts([...this.#start(), ...settle(run, typeof payload === 'string' ? {} : payload)])
    const read = typeof payload === 'string' ? payload : readPlan(run, payload)
    this.session ??= sessionIn(payload)
    return [...before, ...this.#drafts(typeof read === 'string' ? [foreignFrame('plan', frame, read)] : read)]
  }

  #token(text: string): readonly Draft[] {
    const run = this.#run
    const events = run.speech.delta(run.speaker, text)
    const [only] = events
    if (only !== undefined && events.length === 1) return [{ run: run.id, event: only }]
    return events.map((event) => ({ run: run.id, event }))
  }

  /** A token of a run that is open: nearly every frame is one, and it neither starts nor settles anything. */
  #content(frame: Frame, payload: JsonObject): readonly Draft[] {
    const run = this.#run
    const read = readPlan(run, payload)
    this.session ??= sessionIn(payload)
    const events = typeof read === 'string' ? [foreignFrame('plan', frame, read)] : read
    return events.map((event) => ({ run: run.id, event }))
  }

  end(how: 'closed' | 'cut'): readonly Draft[] {
    const run = this.#run
    const closed = run.speech.close()
    if (run.phase !== 'open') return this.#drafts(closed)
    return this.#drafts([...closed, ...settle(run, { type: 'done' }), unfinished(run, how)])
  }

  #start(): readonly RunEvent[] {
    if (this.#run.phase !== 'new') return []
    this.#run.phase = 'open'
    return [{ kind: 'run.started', agent: this.#options.agent ?? '', input: { messages: [] } }]
  }

  #drafts(events: readonly RunEvent[]): readonly Draft[] {
    const run = this.#run
    for (const event of events) {
      run.tasks.apply(event)
      if (event.kind === 'run.finished') run.phase = 'finished'
    }
    return events.map((event) => ({ run: run.id, event }))
  }
}

/** The text of a token without a task, in the form in which nearly every frame comes; undefined for any other frame. */
function contentIn({ event, data, truncated }: Frame): string | undefined {
  if (event !== undefined && event !== 'content' && event !== 'message') return undefined
  return truncated === true ? undefined : bareString(data, '{"type":"content","content":"')
}

/** The JSON of a frame with its type, which is in the event line, in the `type` field, or in both. */
function payloadOf({ event: name, data, truncated }: Frame): JsonObject | string {
  if (truncated === true) return 'the frame is too long'
  const parsed = parseJson(data)
  if ('reason' in parsed) return parsed.reason
  if (!isJsonObject(parsed.value)) return 'not a JSON object'
  const event = name === 'message' ? undefined : name // `message` is what SSE calls a frame without an event line
  const { type = event } = parsed.value
  if (typeof type !== 'string') return 'the frame has no type'
  if (event !== undefined && event !== type) return 'event and type differ'
  return parsed.value.type === undefined ? { ...parsed.value, type } : parsed.value
}

/** The frames that begin the next turn after a `done`. Any other frame came too late. */
const starting: ReadonlySet<unknown> = new Set([
  'content',
  'tasks_extracting',
  'tasks_updated',
  'connection',
  'task_selected',
  'tool_call',
  'artifact_created',
  'artifact_deleted',
  'data_modified',
  'resumed',
])
function starts(type: unknown): boolean {
  return starting.has(type)
}

/** The server fails a task by an error alone: the task has ended once the wire goes on with something else. */
function settle(run: PlanRun, { type, taskId }: JsonObject): readonly RunEvent[] {
  const { troubled } = run
  if (troubled === undefined) return []
  const over = type === 'done' || type === 'task_selected' || type === 'paused'
  if (taskId !== troubled.task && !over) return []
  run.troubled = undefined
  if (taskId === troubled.task) return []
  const { task, error } = troubled
  return [{ kind: 'task.finished', task, status: 'failed', result: error, extra: { plan: { implied: true } } }]
}

function unfinished({ failure, paused }: PlanRun, how: 'closed' | 'cut'): RunFinished {
  const finished = { kind: 'run.finished' } as const
  if (failure !== undefined) return { ...finished, outcome: 'failed', error: { code: 'agent-error', message: failure } }
  if (paused !== undefined) {
    return { ...finished, outcome: 'cancelled', error: { code: 'cancelled', message: 'paused', source: paused } }
  }
  const message = how === 'cut' ? 'the stream broke off' : 'the stream stopped without done'
  return { ...finished, outcome: 'failed', error: { code: 'cut', message } }
}

function sessionIn(payload: JsonObject | string): string | undefined {
  if (typeof payload === 'string' || !Array.isArray(payload.tasks)) return undefined
  const named = payload.tasks.filter(isJsonObject).flatMap((task) => task.sessionId ?? task.session_id ?? [])
  return typeof named[0] === 'string' ? named[0] : undefined
}
