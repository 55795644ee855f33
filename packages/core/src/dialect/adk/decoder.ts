import type { AdkEvent } from '../../event/adk-event.ts'
import { type PendingCalls, pendingCalls } from '../../event/adk-request.ts'
import { functionCallsOf } from '../../event/adk-rules.ts'
import { adkIngest, type Ingested } from '../../event/ingest.ts'
import type { Problem } from '../../event/problem.ts'
import type { Draft, Outcome, RunEvent } from '../../event/run-event.ts'
import { hasText, isPartial } from '../../event/streaming.ts'
import type { Frame } from '../../frame/frame.ts'
import { type Json, type JsonObject, parseJson } from '../../json/json.ts'
import type { Decoder, DecoderOptions } from '../dialect.ts'
import { foreign, isErrorFrame, problemOfError, problemOfEvent, type Remark, readRemark } from './wire.ts'

const broken: Problem = { code: 'cut', message: 'the stream broke off' }

export class AdkDecoder implements Decoder {
  readonly session = undefined
  readonly #given: string
  readonly #agent: string
  readonly #ingest: (raw: unknown) => Ingested
  readonly #turns: boolean
  /** The invocation of the open run, once an event has named it. */
  #invocation = ''
  #run: string
  #runs = 0
  #open = false
  /** The stream announced the run itself, so it will announce the end too. */
  #announced = false
  #pending: PendingCalls = pendingCalls()
  /** The problem in the `{"error": …}` frame of this run. */
  #failure: Problem | undefined
  /** The problem in the last event, if that was an error event. */
  #lastError: Problem | undefined
  /** The last event is half a message or a call: something must follow it. */
  #unfinished = false

  constructor({ run, agent = '', turns = false }: DecoderOptions) {
    this.#given = run
    this.#run = run
    this.#agent = agent
    this.#turns = turns
    this.#ingest = adkIngest({ prefix: run, author: agent, mutable: true })
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
    this.#unfinished = expectsMore(event)
    const said: Draft = { run: this.#run, event: { kind: 'agent', event, message } }
    if (over !== undefined) return [...over, ...(begun ?? []), said]
    return begun === undefined ? [said] : [...begun, said]
  }

  /** Whether the event belongs to another turn than the open run. An announced run ends by its own remark. */
  #isNext({ invocationId }: AdkEvent): boolean {
    if (!this.#open || this.#announced || this.#invocation === '') return false
    return invocationId !== '' && invocationId !== this.#invocation
  }

  end(how: 'closed' | 'cut'): readonly Draft[] {
    if (!this.#open) {
      // A connection that broke before its first frame counts as a failed run; one that closed without frames is no
      // run.
      return how === 'cut' && this.#runs === 0 ? [...this.#begun(), ...this.#finished('failed', broken)] : []
    }
    const cut = how === 'cut' || this.#announced
    const error = this.#failure ?? this.#lastError ?? (cut ? broken : undefined)
    if (error !== undefined) return this.#finished('failed', error)
    if (this.#pending.interrupts().length > 0) return this.#finished('interrupted')
    return this.#unfinished ? this.#finished('failed', broken) : this.#finished('done')
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
    this.#unfinished = false
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
    // run.finished carries the message only; a frame with more than a message is also kept as a log record.
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

function expectsMore(event: AdkEvent): boolean {
  return isPartial(event) ? hasText(event) : functionCallsOf(event).length > 0
}
