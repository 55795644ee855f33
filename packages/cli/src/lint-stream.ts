import {
  type DialectName,
  defined,
  type FrameUnit,
  type PlacedRow,
  placedRecording,
  problemsAtEnd,
  problemsView,
  type RecordingChunks,
  type Severity,
  type StreamProblem,
  type StreamProblemCode,
} from '@millrace/core'

/** A problem of a stream, at the frame of its file. */
export interface Finding {
  readonly severity: Severity
  readonly code: StreamProblemCode
  readonly message: string
  /** Which frame, line or event shows it, from 1; absent at the end of the stream. */
  readonly frame?: number
  /** The earlier frame that it clashes with. */
  readonly earlier?: number
  readonly run: string
  readonly node?: string
  readonly call?: string
}

export interface LintReport {
  readonly dialect: DialectName
  readonly unit: FrameUnit
  readonly events: number
  /** The first fifty of each code. */
  readonly findings: readonly Finding[]
  /** How many there are, listed or not. */
  readonly errors: number
  readonly warnings: number
  readonly infos: number
}

/** The linter of core over a recording, each problem with the number of its frame instead of its event's. */
export class StreamLint {
  #problems = problemsView.initial
  /** By the seq of an event: the number of its frame. */
  readonly #frames: number[] = []
  #dialect: DialectName = 'millrace'
  #unit: FrameUnit = 'frame'
  #events = 0

  push({ row, number, dialect, unit }: PlacedRow): void {
    this.#dialect = dialect
    this.#unit = unit
    this.#events++
    if (number !== undefined) this.#frames[row.seq] = number
    this.#problems = problemsView.apply(this.#problems, row)
  }

  end(): LintReport {
    const { problems, counts } = problemsAtEnd(this.#problems)
    const findings = [...problems].map((problem) => this.#finding(problem))
    const severities = new Map(findings.map(({ code, severity }) => [code, severity]))
    const count = (severity: Severity): number =>
      Object.entries(counts).reduce((sum, [code, n]) => {
        return severities.get(code as StreamProblemCode) === severity ? sum + n : sum
      }, 0)
    return {
      dialect: this.#dialect,
      unit: this.#unit,
      events: this.#events,
      findings,
      errors: count('error'),
      warnings: count('warning'),
      infos: count('info'),
    }
  }

  #finding({ severity, code, message, seq, earlier, run, node, call }: StreamProblem): Finding {
    const frame = this.#frames[seq]
    const before = earlier === undefined ? undefined : this.#frames[earlier]
    return { severity, code, message, run, ...defined({ frame, earlier: before, node, call }) }
  }
}

/** Lints a whole recording as it is read. */
export async function lintStream(chunks: RecordingChunks, from?: DialectName): Promise<LintReport> {
  const lint = new StreamLint()
  for await (const placed of placedRecording(chunks, { run: 'run-1', now: Date.now, ...defined({ from }) }))
    lint.push(placed)
  return lint.end()
}
