import type { Decoder } from '../dialect/dialect.ts'
import type { Problem } from '../event/problem.ts'
import type { Draft, Recorded } from '../event/run-event.ts'
import { readCursor } from '../frame/cursor.ts'
import type { Frame } from '../frame/frame.ts'
import { sseReader } from '../frame/sse.ts'
import { defined } from '../json/defined.ts'
import { isJsonObject, parseJson } from '../json/json.ts'
import type { Signal } from '../log/event-log.ts'
import {
  acceptRejoining,
  backoff,
  type Connection,
  type ConnectionState,
  type ConnectOptions,
  longestWait,
  rejoinHeader,
  rejoinUrl,
} from './connection.ts'
import { type FetchAnswer, headersFor } from './host.ts'

/** The result of one attempt. `retry` only if the stream can be re-joined without starting a run again. */
type Attempt =
  | { readonly next: 'retry'; readonly reason: string; readonly wait?: number }
  | { readonly next: 'close'; readonly how: 'ended' | 'cut' | 'refused' | 'aborted'; readonly problem?: Problem }

/**
 * After this many milliseconds without a byte a connection counts as dead: three heartbeats on a Millrace server; longer
 * on servers that may send no heartbeat while a slow tool runs.
 */
const inactivityOfMillrace = 45_000
const inactivityOfOthers = 120_000

/**
 * Follows a stream of any dialect: `for await (const row of connect(url, …))`. After a cut it re-joins with
 * `Last-Event-ID`; it never POSTs twice. An answer that is not an event stream or is empty closes it as `refused`; a
 * stream that breaks off on a server that cannot be re-joined closes it as `cut`.
 */
export function connect(url: string, options: ConnectOptions): Connection {
  const stream = new Stream(url, options)
  return {
    [Symbol.asyncIterator]: () => stream.rows(),
    get state() {
      return stream.state
    },
    get cursor() {
      return stream.cursor
    },
    close: () => stream.close(),
  }
}

class Stream {
  state: ConnectionState = { phase: 'connecting' }
  cursor: number
  readonly #options: ConnectOptions
  readonly #decoder: Decoder
  #url: string
  #post: boolean
  #seq: number
  #finished = false
  #closed = false
  #wake = (): void => {}
  #progress = false
  /** The answer named a URL where the stream can be re-joined. */
  #rejoinable = false
  /** The reconnection time that the stream asked for. */
  #retry: number | undefined

  constructor(url: string, options: ConnectOptions) {
    this.#options = options
    this.#url = url
    this.#post = options.body !== undefined
    this.cursor = options.after ?? 0
    this.#seq = this.cursor
    const { run = '', agent } = options
    this.#decoder = options.dialect.decoder({ run, ...defined({ agent }) })
  }

  close(): void {
    this.#closed = true
    this.#wake()
  }

  async *rows(): AsyncGenerator<Recorded, void> {
    const { signal, host, maxAttempts = Number.POSITIVE_INFINITY } = this.#options
    const abort = (): void => this.close()
    signal?.addEventListener('abort', abort)
    if (signal?.aborted === true) this.close()
    let failures = 0
    try {
      for (;;) {
        this.#progress = false
        const attempt = yield* this.#attempt()
        if (attempt.next === 'close') {
          const { how, problem } = attempt
          this.#enter({ phase: 'closed', how, ...defined({ problem }) })
          return
        }
        failures = this.#progress ? 1 : failures + 1
        if (failures > maxAttempts) {
          const problem: Problem = { code: 'remote-error', message: `gave up: ${attempt.reason}` }
          this.#enter({ phase: 'closed', how: 'cut', problem })
          return
        }
        const wait = attempt.wait ?? backoff(failures, host.random(), this.#retry)
        this.#enter({ phase: 'waiting', attempt: failures, until: host.now() + wait, reason: attempt.reason })
        await this.#pause(wait)
      }
    } finally {
      signal?.removeEventListener('abort', abort)
      // If the consumer broke out of its loop, that is an abort: the request is closed too.
      if (this.state.phase !== 'closed') this.#enter({ phase: 'closed', how: 'aborted' })
      this.close()
    }
  }

  async *#attempt(): AsyncGenerator<Recorded, Attempt> {
    if (this.#closed) return { next: 'close', how: 'aborted' }
    this.#enter({ phase: 'connecting' })
    const control = this.#options.host.abortController()
    this.#wake = () => control.abort()
    const { host } = this.#options
    const inactivity = this.#inactivity()
    let answer: FetchAnswer
    let silent = false
    const cancel = host.after(inactivity, () => {
      silent = true
      control.abort()
    })
    try {
      answer = await this.#request(control.signal, false)
      // Nothing was done for a request without a valid token, so a POST may be sent again.
      if (answer.status === 401 && typeof this.#options.headers === 'function') {
        void answer.text().catch(() => '')
        answer = await this.#request(control.signal, true)
      }
      const posted = this.#post
      this.#post = false // the server has answered: this run is never POSTed again
      const refused = await refusalOf(answer, posted)
      if (refused !== undefined) {
        control.abort() // the rest of the body is not read
        return this.#closed ? { next: 'close', how: 'aborted' } : refused
      }
    } catch (error) {
      return this.#lost(`no answer: ${silent ? silence(inactivity) : messageOf(error)}`)
    } finally {
      cancel()
    }
    // Relative to where the answer came from: the request may have been redirected.
    const place = rejoinUrl(answer.headers.get(rejoinHeader), answer.url || this.#url)
    this.#rejoinable = place !== undefined
    if (place !== undefined) this.#url = place
    this.#enter({ phase: 'open' })
    return yield* this.#read(answer, control)
  }

  #inactivity(): number {
    return this.#options.inactivity ?? (this.#rejoinable ? inactivityOfMillrace : inactivityOfOthers)
  }

  async #request(signal: Signal, refused: boolean): Promise<FetchAnswer> {
    const { host, body } = this.#options
    const headers = await headersFor(this.#options.headers, refused, signal)
    const resume = this.cursor > 0 ? { 'last-event-id': String(this.cursor) } : {}
    if (!this.#post) {
      return host.fetch(this.#url, {
        method: 'GET',
        headers: { accept: 'text/event-stream', ...resume, ...headers },
        cache: 'no-store',
        signal,
      })
    }
    const sent = { accept: acceptRejoining, 'content-type': 'application/json', ...headers }
    return host.fetch(this.#url, { method: 'POST', headers: sent, body: JSON.stringify(body), signal })
  }

  async *#read(answer: FetchAnswer, control: { abort(): void }): AsyncGenerator<Recorded, Attempt> {
    const { host, follow = false } = this.#options
    const inactivity = this.#inactivity()
    const opened = host.now()
    const bytes = answer.body?.getReader()
    const text = host.textDecoder()
    const frames = sseReader()
    let held: Frame[] = []
    let seen = false
    let silent = false
    let failure: string | undefined
    for (;;) {
      const cancel = host.after(inactivity, () => {
        silent = true
        control.abort()
      })
      let chunk: { readonly done: boolean; readonly value?: Uint8Array | undefined }
      try {
        chunk = (await bytes?.read()) ?? { done: true }
      } catch (error) {
        failure = silent ? silence(inactivity) : messageOf(error)
        break
      } finally {
        cancel()
      }
      if (chunk.done) break
      for (const frame of frames.feed(text.decode(chunk.value ?? new Uint8Array(), { stream: true }))) {
        seen ||= frame.comment === undefined
        // A comment alone is no progress: a server that sends one and closes would be asked twice a second, for ever.
        this.#progress ||= frame.comment === undefined || host.now() - opened >= longestWait
        held.push(frame)
        // The id is on the last frame of an event: after a cut before that frame, the server prints the whole event again.
        if (this.#rejoinable && frame.id === undefined && frame.comment === undefined) continue
        yield* this.#take(held)
        held = []
        if (this.#closed) break // the consumer closed it: frames that have arrived are not delivered any more
      }
      this.#retry = frames.retry ?? this.#retry
      if (this.#finished && !follow) {
        void bytes?.cancel().catch(() => {})
        return { next: 'close', how: 'ended' }
      }
      if (this.#closed) break
    }
    if (this.#closed) return { next: 'close', how: 'aborted' }
    if (this.#rejoinable) return { next: 'retry', reason: failure ?? 'the server closed the stream' }
    return yield* this.#endOfForeign(seen, failure ?? (frames.open ? 'in the middle of a frame' : undefined))
  }

  /** The end of a stream on a server that cannot be re-joined: no more rows can come. */
  async *#endOfForeign(seen: boolean, failure: string | undefined): AsyncGenerator<Recorded, Attempt> {
    const cut = failure !== undefined
    if (!seen && !cut) return refuse('the answer was an empty event stream')
    for (const draft of this.#decoder.end(cut ? 'cut' : 'closed')) yield this.#record(draft)
    if (this.#finished && !cut) return { next: 'close', how: 'ended' }
    const message = `the stream broke off before its end${cut ? `: ${failure}` : ''}`
    return { next: 'close', how: 'cut', problem: { code: 'remote-error', message } }
  }

  *#take(frames: readonly Frame[]): Generator<Recorded> {
    const id = readCursor(frames.at(-1)?.id ?? '')?.seq
    // A row from before the cursor: the server or a proxy ignored Last-Event-ID.
    if (this.#rejoinable && id !== undefined && id <= this.cursor) return
    for (const frame of frames) for (const draft of this.#decoder.push(frame)) yield this.#record(draft)
    if (id !== undefined) this.cursor = id
  }

  #record({ run, event, at, seq }: Draft): Recorded {
    this.#seq = seq ?? this.#seq + 1
    if (event.kind === 'run.finished') this.#finished = true
    else if (event.kind === 'run.started') this.#finished = false
    return { seq: this.#seq, at: at ?? this.#options.host.now(), run, event }
  }

  /** The request itself failed. A POST may have started its run: it is safe to follow that run, not to send it again. */
  #lost(reason: string): Attempt {
    if (this.#closed) return { next: 'close', how: 'aborted' }
    if (!this.#post) return { next: 'retry', reason }
    const { reattach } = this.#options
    if (reattach === undefined) return { next: 'close', how: 'cut', problem: { code: 'remote-error', message: reason } }
    this.#post = false
    this.#url = reattach
    return { next: 'retry', reason }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resume) => {
      const cancel = this.#options.host.after(ms, resume)
      this.#wake = () => {
        cancel()
        resume()
      }
      if (this.#closed) this.#wake()
    })
  }

  #enter(state: ConnectionState): void {
    this.state = state
    this.#options.onState?.(state)
  }
}

/** Statuses of a server that restarts or is busy: a GET may be tried again. */
const temporary = new Set([408, 425, 429, 502, 503, 504])

/** Why an answer is no stream. A refused POST is never retried here: a proxy may have passed it on before it failed. */
async function refusalOf(answer: FetchAnswer, posted: boolean): Promise<Attempt | undefined> {
  const { status, headers } = answer
  const type = headers.get('content-type') ?? 'no content type'
  if (status === 204) return { next: 'close', how: 'ended' }
  if (status >= 200 && status < 300) {
    return type.toLowerCase().startsWith('text/event-stream')
      ? undefined
      : refuse(`the answer is ${type}, not an event stream`, status)
  }
  const detail = (await answer.text().catch(() => '')).slice(0, 10_000)
  if (temporary.has(status) && !posted) {
    const seconds = Number(headers.get('retry-after'))
    return { next: 'retry', reason: `status ${status}`, ...(seconds > 0 ? { wait: seconds * 1000 } : {}) }
  }
  return refuse(`status ${status}${reasonIn(detail)}`, status)
}

/** The reason in the body of a refusal: a field of its JSON, else its text. A page of HTML has none. */
function reasonIn(body: string): string {
  const parsed = parseJson(body)
  const answer = 'value' in parsed ? parsed.value : body
  const reason = isJsonObject(answer) ? (answer.detail ?? answer.error ?? answer.message ?? answer.title) : answer
  const words = isJsonObject(reason) && typeof reason.message === 'string' ? reason.message : reason
  const text = typeof words === 'string' ? words.trim() : JSON.stringify(words ?? answer)
  return text === '' || text.startsWith('<') ? '' : `: ${text.slice(0, 500)}`
}

function refuse(message: string, status?: number): Attempt {
  const source = status === undefined ? undefined : String(status)
  return { next: 'close', how: 'refused', problem: { code: 'remote-error', message, ...defined({ source }) } }
}

const silence = (ms: number): string => `silent for ${ms} ms`

/** The message of `fetch` is only `fetch failed`: the cause has the reason. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return `${error.message} (${'code' in cause ? cause.code : cause.message})`
}
