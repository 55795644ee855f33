import {
  type Decoder,
  type Dialect,
  type DialectName,
  type Draft,
  dialects,
  isObject,
  type Recorded,
  type RunEvent,
  sseReader,
} from '@millrace/core'
import { anyDialect } from '../any-dialect.ts'
import { type LintReport, StreamLint } from '../lint-stream.ts'

/** A stream that was recorded to its end. */
export interface Taped {
  readonly method: string
  readonly path: string
  readonly status: number
  /** The session that the wire named. */
  readonly session: string | undefined
  readonly rows: readonly Recorded[]
  readonly report: LintReport
  /** The client left, or the tap was stopped, before the server had sent all. */
  readonly early: boolean
  readonly bytes: number
  /** In ms. */
  readonly took: number
}

export interface TapeOptions {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly dialect?: DialectName
  /** The request, from which the user's message is taken where the stream does not repeat it. */
  readonly body: string
  readonly now: () => number
}

/** Rows of one stream. A stream that goes on is passed on, and its recording ends here. */
const mostRows = 500_000

/** Records one stream beside the bytes that are passed on. Each event has the time at which it came. */
export class Tape {
  readonly #options: TapeOptions
  readonly #started: number
  readonly #text = new TextDecoder('utf-8', { ignoreBOM: true })
  readonly #frames = sseReader()
  readonly #lint = new StreamLint()
  readonly #decoder: Decoder
  readonly #rows: Recorded[] = []
  #dialect: DialectName
  #frame = 0
  #bytes = 0

  constructor(options: TapeOptions) {
    this.#options = options
    this.#started = options.now()
    this.#dialect = options.dialect ?? 'millrace'
    const dialect: Dialect =
      options.dialect === undefined
        ? anyDialect((name) => {
            this.#dialect = name
          })
        : dialects[options.dialect]
    this.#decoder = dialect.decoder({ run: 'run-1' })
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    for (const frame of this.#frames.feed(this.#text.decode(chunk, { stream: true }))) {
      this.#frame++
      this.#take(this.#decoder.push(frame), this.#frame)
    }
  }

  end(how: 'closed' | 'cut', early = false): Taped {
    this.#take(this.#decoder.end(this.#frames.open ? 'cut' : how), undefined)
    const { method, path, status, now } = this.#options
    return {
      method,
      path,
      status,
      session: this.#decoder.session,
      rows: this.#rows,
      report: early ? withoutEnd(this.#lint.end()) : this.#lint.end(),
      early,
      bytes: this.#bytes,
      took: now() - this.#started,
    }
  }

  #take(drafts: readonly Draft[], number: number | undefined): void {
    for (const { run, event } of drafts) {
      if (this.#rows.length >= mostRows) return
      const row = {
        seq: this.#rows.length + 1,
        at: this.#options.now(),
        run,
        event: withInput(event, this.#options.body),
      }
      this.#rows.push(row)
      this.#lint.push({ row, dialect: this.#dialect, session: undefined, number, unit: 'frame' })
    }
  }
}

/** A server that was not heard to its end is not to blame for a missing end. */
function withoutEnd(report: LintReport): LintReport {
  const findings = report.findings.filter(({ code }) => code !== 'no-end')
  return { ...report, findings, errors: report.errors - (report.findings.length - findings.length) }
}

/** Most wires do not repeat what the user said: it is taken from the request. */
function withInput(event: RunEvent, body: string): RunEvent {
  if (event.kind !== 'run.started' || event.input.messages.length > 0) return event
  const text = saidIn(body)
  if (text === undefined) return event
  const message = { id: 'request', role: 'user', content: { role: 'user', parts: [{ text }] } } as const
  return { ...event, input: { ...event.input, messages: [message] } }
}

/** The text of ADK's `newMessage`, of the last user message of AG-UI, or of a field that is named for it. */
function saidIn(body: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return undefined
  }
  if (!isObject(value)) return undefined
  const content = isObject(value.newMessage)
    ? value.newMessage
    : isObject(value.new_message)
      ? value.new_message
      : undefined
  const parts: unknown = content?.parts
  if (Array.isArray(parts))
    return parts.map((part: unknown) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
  const messages: readonly unknown[] = Array.isArray(value.messages) ? value.messages : []
  const last = messages.findLast((message) => isObject(message) && message.role === 'user')
  const said = isObject(last) ? last.content : (value.input ?? value.message)
  return typeof said === 'string' ? said : undefined
}
