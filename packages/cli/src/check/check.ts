import { type DialectName, defined, MillraceError } from '@millrace/core'
import { CommandError } from '../command-error.ts'
import { ctrlC, interruptedCode } from '../ctrl-c.ts'
import { fromAuto } from '../dialect-option.ts'
import { inputName, isUrl, openInput } from '../input.ts'
import { lintStream } from '../lint-stream.ts'
import { sayJson, sayLine } from '../output.ts'
import { requestBody } from '../request-options.ts'
import { junit } from './junit.ts'
import { printChecked } from './print.ts'
import { probeServer } from './probe.ts'
import type { Checked } from './report.ts'
import { sarif } from './sarif.ts'

export interface CheckOptions {
  readonly from: DialectName | 'auto'
  readonly data?: string
  readonly header: Readonly<Record<string, string>>
  readonly probe: boolean
  readonly strict?: true
  readonly json?: true
  readonly sarif?: true
  readonly junit?: true
}

/** Resolves with the exit code. */
export async function checkCommand(files: readonly string[], options: CheckOptions): Promise<number> {
  const { json, sarif: asSarif, junit: asJunit, strict } = options
  if ([json, asSarif, asJunit].filter((each) => each === true).length > 1)
    throw new CommandError('--json, --sarif and --junit are three forms of one report; choose one', 2)
  const { signal, release } = ctrlC()
  const reports: Checked[] = []
  try {
    for (const file of files.length === 0 ? ['-'] : files) {
      const report = await checked(file, options, signal)
      reports.push(report)
      if (json !== true && asSarif !== true && asJunit !== true) printChecked(report)
    }
  } catch (error) {
    if (signal.aborted) return interruptedCode
    throw error
  } finally {
    release()
  }
  if (json === true) sayJson(reports.length === 1 ? reports[0] : reports)
  if (asSarif === true) sayJson(sarif(reports))
  if (asJunit === true) sayLine(junit(reports, strict === true))
  return reports.some((report) => fails(report, strict === true)) ? 1 : 0
}

function fails({ errors, warnings, unread, probes }: Checked, strict: boolean): boolean {
  return unread !== undefined || errors > 0 || (strict && warnings > 0) || (probes ?? []).some(({ ok }) => !ok)
}

/** Most agent servers accept only POST. */
function withAdvice(error: unknown, body: string | undefined): unknown {
  if (!(error instanceof CommandError) || body !== undefined || !/ answered 40[45]\b/.test(error.message)) return error
  return new CommandError(`${error.message}; give the body of a run with --data to ask with POST`)
}

async function checked(file: string, options: CheckOptions, signal: AbortSignal): Promise<Checked> {
  const { from, data, header: headers, probe } = options
  const dialect = fromAuto(from)
  const body = data === undefined || !isUrl(file) ? undefined : requestBody(data)
  const chunks = await openInput(file, { signal, headers, ...defined({ body }) }).catch((error: unknown) => {
    throw withAdvice(error, body)
  })
  const source = inputName(file)
  const seen = { text: false }
  try {
    const report = await lintStream(noticed(chunks, seen), dialect)
    if (!seen.text) return unreadable(source, dialect, emptyText)
    const probes =
      isUrl(file) && probe
        ? await probeServer(file, { headers, signal, dialect: report.dialect, ...defined({ body }) })
        : undefined
    return { source, ...report, ...defined({ probes }) }
  } catch (error) {
    // A file that cannot be read is a finding; the other files are still checked.
    if (!(error instanceof MillraceError || error instanceof CommandError)) throw error
    const isEmpty = error instanceof MillraceError && !seen.text
    return unreadable(source, dialect, isEmpty ? emptyText : error.message)
  }
}

const emptyText = 'it is empty: there is nothing to check'

function unreadable(source: string, dialect: DialectName | undefined, unread: string): Checked {
  const nothing = { unit: 'frame', events: 0, findings: [], errors: 1, warnings: 0, infos: 0 } as const
  return { source, dialect: dialect ?? 'millrace', ...nothing, unread }
}

/** Whether there is anything but spaces and line ends. */
async function* noticed(chunks: AsyncIterable<Uint8Array>, seen: { text: boolean }): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    seen.text ||= chunk.some((byte) => byte > 0x20)
    yield chunk
  }
}
