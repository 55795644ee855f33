import type { LintReport } from '../lint-stream.ts'

/** What `check` found in one source. */
export interface Checked extends LintReport {
  readonly source: string
  /** Why nothing could be read. */
  readonly unread?: string
  /** How a server behaved. */
  readonly probes?: readonly Probe[]
}

export interface Probe {
  readonly name: 'bad body' | 'missing fields' | 'reader leaves' | 'two at once'
  readonly ok: boolean
  readonly message: string
}
