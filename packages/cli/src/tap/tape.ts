import {
  type Decoder,
  type Dialect,
  type DialectName,
  type Draft,
  dialects,
  type Recorded,
  type RunEvent,
  sseReader,
} from '@millrace/core'
import { anyDialect } from '../any-dialect.ts'
import { type LintReport, StreamLint } from '../lint-stream.ts'
import { askedIn, type TappedRequest } from './request.ts'

type RunFinished = Extract<RunEvent, { kind: 'run.finished' }>

/** A stream that was recorded to its end. */
export interface Taped {
  readonly method: string
  readonly path: string
  readonly status: number
  /** The session that the wire named. */
  readonly session: string | undefined
  readonly rows: readonly Recorded[]
  /** What the user said. */
  readonly said: string | undefined
  /** How the last run ended; undefined where the stream has none. */
  readonly ending: RunFinished | undefined
  readonly report: LintReport
  /** The client left, or the tap was stopped, before the server had sent everything. */
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
  /** The request, from which the user's message and the agent are taken where the stream does not name them. */
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
  readonly #asked: TappedRequest
  #dialect: DialectName
  #frame = 0
  #bytes = 0

  constructor(options: TapeOptions) {
    this.#options = options
    this.#started = options.now()
    this.#asked = askedIn(options.body)
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

  /** Events that came as one JSON array, as ADK answers `/run`. */
  pushWhole(events: readonly unknown[], bytes: number): void {
    this.#bytes += bytes
    for (const event of events) {
      this.#frame++
      this.#take(this.#decoder.push({ data: JSON.stringify(event) }), this.#frame)
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
      said: this.#asked.text,
      ending: endingOf(this.#rows),
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
        event: withRequest(event, this.#asked),
      }
      this.#rows.push(row)
      this.#lint.push({ row, dialect: this.#dialect, session: undefined, number, unit: 'frame' })
    }
  }
}

/** If the client left early, a missing end is not the server's fault. */
function withoutEnd(report: LintReport): LintReport {
  const findings = report.findings.filter(({ code }) => code !== 'no-end')
  return { ...report, findings, errors: report.errors - (report.findings.length - findings.length) }
}

/** Most wires do not repeat the user's message, and ADK's events name only their author: the request has both. */
function withRequest(event: RunEvent, { text, agent }: TappedRequest): RunEvent {
  if (event.kind !== 'run.started') return event
  const named = agent !== undefined ? { ...event, agent: agent.slice(0, 200) } : event
  if (text === undefined || event.input.messages.length > 0) return named
  const message = { id: 'request', role: 'user', content: { role: 'user', parts: [{ text }] } } as const
  return { ...named, input: { ...named.input, messages: [message] } }
}

function endingOf(rows: readonly Recorded[]): RunFinished | undefined {
  const last = rows.findLast(({ event }) => event.kind === 'run.finished')?.event
  return last?.kind === 'run.finished' ? last : undefined
}
