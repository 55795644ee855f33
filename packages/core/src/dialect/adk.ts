import type { AdkEvent } from '../event/adk-event.ts'
import { type PendingCalls, pendingCalls, requestOf } from '../event/adk-request.ts'
import { adkIngest, type Ingested } from '../event/ingest.ts'
import { type Json, type JsonObject, parseJson } from '../event/json.ts'
import type { Problem } from '../event/problem.ts'
import type { Draft, InputMessage, Outcome, Recorded, RunEvent } from '../event/run-event.ts'
import { applyState } from '../event/state-fold.ts'
import type { Frame } from '../frame/frame.ts'
import {
  foreign,
  isErrorFrame,
  printEvent,
  printForeign,
  problemOfError,
  problemOfEvent,
  type Remark,
  readRemark,
  remarkFinished,
  remarkStarted,
} from './adk-wire.ts'
import type { Decoder, DecoderOptions, Dialect, Encoder } from './dialect.ts'

/**
 * Google ADK's `/run_sse`: one ADK event a frame, nothing else. ADK has no word for the start and the end of a run, so
 * Millrace says those in comments, which every SSE client skips:
 *
 *     : run.started <run> <agent>
 *     : run.finished <outcome> [<problem code>]
 *     : foreign {"reason":…,"raw":…}
 *
 * They cannot be `data:`, because adk-web takes each such line for an event, and stalls for good on one that is not JSON.
 *
 * In: both flavours (see ingest). A stream that never said `run.started` is ADK's own, and its end is the end of the run:
 * failed if an `{"error": …}` frame came or the last thing said was an error event (an earlier one was survived),
 * interrupted if a long-running call has no answer, done otherwise. One that did say it and stops without
 * `run.finished` was cut.
 *
 * Out: an agent event as it is, in camelCase and seconds, which is what adk-web and the seeds read. Of what no agent
 * event carries, that which ADK has a form for: `state` as an event with `stateDelta` (the top-level keys that were set;
 * ADK cannot remove one), `artifact` as `artifactDelta` unless an event announced that version, `interrupt` as a
 * long-running `adk_request_input` unless its call is long-running already. A failed run prints `{"error": message}`,
 * unless its last event said just that. What the user said prints as events by `user` only when `echo` asks for it: adk-web
 * shows its own. The rest (nodes, tasks, data, logs) has no form in ADK and prints nothing.
 */
export const adk: Dialect = {
  name: 'adk',
  decoder: (options) => new AdkDecoder(options),
  encoder: ({ echo = false }) => new AdkEncoder(echo),
}

const broken: Problem = { code: 'cut', message: 'the stream broke off' }

class AdkDecoder implements Decoder {
  readonly session = undefined
  readonly #given: string
  readonly #agent: string
  readonly #ingest: (raw: unknown) => Ingested
  readonly #turns: boolean
  /** The invocation of the run that is open, once an event has named it. */
  #invocation = ''
  #run: string
  #runs = 0
  #open = false
  /** The stream announced the run itself, so it will announce the end too. */
  #announced = false
  #pending: PendingCalls = pendingCalls()
  /** What an `{"error": …}` frame said. */
  #failure: Problem | undefined
  /** What the last event said, if that was an error. */
  #lastError: Problem | undefined

  constructor({ run, agent = '', turns = false }: DecoderOptions) {
    this.#given = run
    this.#run = run
    this.#agent = agent
    this.#turns = turns
    this.#ingest = adkIngest({ prefix: run, author: agent, owned: true })
  }

  push(frame: Frame): readonly Draft[] {
    const { data, comment } = frame
    if (comment !== undefined && data === '' && frame.event === undefined) return this.#remarked(readRemark(comment))
    if (frame.truncated === true) return this.#kept(data, 'the frame is too long')
    const parsed = parseJson(data)
    if ('reason' in parsed) return this.#kept(data, parsed.reason)
    if (isErrorFrame(parsed.value)) return this.#failed(data, parsed.value)
    const ingested = this.#ingest(parsed.value)
    if ('reason' in ingested) return this.#kept(data, ingested.reason)
    const { event, message } = ingested
    const over = this.#turns && this.#isNext(event) ? this.end('closed') : undefined
    const begun = this.#open ? undefined : this.#begun(event.author)
    if (event.invocationId !== '') this.#invocation = event.invocationId
    this.#pending.push(event)
    this.#lastError = problemOfEvent(event)
    const said: Draft = { run: this.#run, event: { kind: 'agent', event, message } }
    if (over !== undefined) return [...over, ...(begun ?? []), said]
    return begun === undefined ? [said] : [...begun, said]
  }

  /** Of another turn than the run that is open. An announced run ends where it says so. */
  #isNext({ invocationId }: AdkEvent): boolean {
    if (!this.#open || this.#announced || this.#invocation === '') return false
    return invocationId !== '' && invocationId !== this.#invocation
  }

  end(how: 'closed' | 'cut'): readonly Draft[] {
    if (!this.#open) {
      // A connection that broke before its first frame was a run all the same; one that closed without any was none.
      return how === 'cut' && this.#runs === 0 ? [...this.#begun(), ...this.#finished('failed', broken)] : []
    }
    const cut = how === 'cut' || this.#announced
    const error = this.#failure ?? this.#lastError ?? (cut ? broken : undefined)
    if (error !== undefined) return this.#finished('failed', error)
    return this.#finished(this.#pending.interrupts().length > 0 ? 'interrupted' : 'done')
  }

  #draft(event: RunEvent): Draft {
    return { run: this.#run, event }
  }

  #kept(raw: string, reason: string): Draft[] {
    return [...this.#begun(), this.#draft(foreign(raw, reason))]
  }

  /** A frame after the end of a run belongs to the next one. */
  #begun(author = ''): Draft[] {
    if (this.#open) return []
    const run = this.#runs === 0 ? this.#given : `${this.#given}.${this.#runs + 1}`
    return [this.#start(run, this.#agent !== '' || author === 'user' ? this.#agent : author, false)]
  }

  #start(run: string, agent: string, announced: boolean): Draft {
    this.#run = run
    this.#runs += 1
    this.#open = true
    this.#invocation = ''
    this.#announced = announced
    this.#pending = pendingCalls()
    this.#failure = undefined
    this.#lastError = undefined
    return this.#draft({ kind: 'run.started', agent, input: { messages: [] } })
  }

  #finished(outcome: Outcome, error?: Problem): Draft[] {
    this.#open = false
    const asked = outcome === 'interrupted' ? this.#pending.interrupts().map((event) => this.#draft(event)) : []
    return [...asked, this.#draft({ kind: 'run.finished', outcome, ...(error === undefined ? {} : { error }) })]
  }

  #failed(raw: string, value: JsonObject & { readonly error: Json }): Draft[] {
    const drafts = this.#begun()
    if (this.#failure !== undefined) return [this.#draft(foreign(raw, 'a second error'))]
    this.#failure = problemOfError(value.error)
    const { message } = this.#failure
    // run.finished carries the message; where there is more to it, that is kept here.
    if (value.error !== message || Object.keys(value).length > 1) {
      drafts.push(this.#draft({ kind: 'log', level: 'error', message, data: value }))
    }
    return drafts
  }

  #remarked(remark: Remark | undefined): Draft[] {
    switch (remark?.word) {
      case undefined:
        return []
      case 'foreign':
        return [...this.#begun(), this.#draft(remark.event)]
      case 'run.started': {
        const run = remark.run === '' ? this.#given : remark.run
        if (this.#open && run === this.#run) return []
        const cut = this.#open ? this.#finished('failed', broken) : []
        return [...cut, this.#start(run, remark.agent, true)]
      }
      case 'run.finished': {
        const begun = this.#begun()
        if (remark.outcome !== 'failed') return [...begun, ...this.#finished(remark.outcome)]
        const error = this.#failure ?? this.#lastError ?? { code: 'remote-error', message: 'failed' }
        return [...begun, ...this.#finished('failed', { ...error, code: remark.code ?? error.code })]
      }
    }
  }
}

class AdkEncoder implements Encoder {
  readonly #echo: boolean
  #agent = ''
  /** The remark that opened the run that is open. */
  #started: Frame | undefined
  #state: JsonObject = {}
  /** The error that the last event said. */
  #said: Problem | undefined
  /** Long-running calls and artifact versions that the client has been told of. */
  #calls = new Set<string>()
  readonly #versions = new Map<string, number>()

  constructor(echo: boolean) {
    this.#echo = echo
  }

  prelude(): readonly Frame[] {
    return this.#started === undefined ? [] : [this.#started]
  }

  push(row: Recorded): readonly Frame[] {
    const { at, run, event } = row
    const before = this.#state
    this.#state = applyState(before, event)
    switch (event.kind) {
      case 'run.started':
        this.#agent = event.agent
        this.#said = undefined
        this.#calls = new Set()
        this.#started = remarkStarted(run, event.agent)
        return [this.#started, ...(this.#echo ? userSaid(row, event.input.messages) : [])]
      case 'agent':
        this.#note(event.event)
        return [printEvent(event.event, at)]
      case 'state': {
        const stateDelta = setKeys(before, this.#state)
        return stateDelta === undefined ? [] : this.#made(row, event.node, { actions: { stateDelta } })
      }
      case 'artifact':
        if (event.deleted === true || this.#versions.get(event.name) === event.version) return []
        this.#versions.set(event.name, event.version)
        return this.#made(row, event.node, { actions: { artifactDelta: { [event.name]: event.version } } })
      case 'interrupt': {
        if (this.#calls.has(event.id) || this.#calls.has(event.call ?? event.id)) return []
        this.#calls.add(event.id)
        const content = { role: 'model', parts: [{ functionCall: requestOf(event) }] }
        return this.#made(row, event.node, { content, longRunningToolIds: [event.id] })
      }
      case 'foreign':
        return event.dialect === 'adk' ? [printForeign(event)] : []
      case 'run.finished':
        return this.#finished(event.outcome, event.error)
      default:
        return []
    }
  }

  #note(event: AdkEvent): void {
    this.#said = problemOfEvent(event)
    for (const id of event.longRunningToolIds ?? []) this.#calls.add(id)
    for (const [name, version] of Object.entries(event.actions?.artifactDelta ?? {})) this.#versions.set(name, version)
  }

  /** An ADK event for what no ADK event said. */
  #made({ seq, at, run }: Recorded, node: string | undefined, said: Partial<AdkEvent>): Frame[] {
    const author = run === '' ? 'user' : node === undefined ? this.#agent : agentOf(node)
    return [printEvent({ id: `millrace-${seq}`, author, invocationId: run, timestamp: at, ...said }, at)]
  }

  #finished(outcome: Outcome, error: Problem | undefined): Frame[] {
    this.#started = undefined
    const end = remarkFinished(outcome, error?.code)
    if (outcome !== 'failed') return [end]
    const message = error?.message ?? 'failed'
    return this.#said?.message === message ? [end] : [{ data: JSON.stringify({ error: message }) }, end]
  }
}

function userSaid({ run, at }: Recorded, messages: readonly InputMessage[]): Frame[] {
  return messages.flatMap(({ id, role, content }) =>
    role === 'user' ? printEvent({ id, author: 'user', invocationId: run, timestamp: at, content }, at) : [],
  )
}

/** The top-level keys that were set; undefined when there are none. */
function setKeys(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const entries = Object.entries(after).filter(([key, value]) => !Object.hasOwn(before, key) || before[key] !== value)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** The agent of `coordinator/burn_analyst@2`. */
function agentOf(node: string): string {
  return node.slice(node.lastIndexOf('/') + 1).replace(/@\d+$/, '')
}
