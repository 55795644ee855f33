import { createServer } from 'node:http'
import { type DialectName, defined } from '@millrace/core'
import { CommandError } from '../command-error.ts'
import { ctrlC } from '../ctrl-c.ts'
import { fromAuto } from '../dialect-option.ts'
import type { Env } from '../env-files.ts'
import { isUrl } from '../input.ts'
import type { Finding } from '../lint-stream.ts'
import { listening } from '../listening.ts'
import { remark, sayLine } from '../output.ts'
import { aligned, coloursOf, counted, durationText, oneLine, visible } from '../terminal.ts'
import { keepersOf } from './keep.ts'
import { proxyHandler } from './proxy.ts'
import type { Taped } from './tape.ts'

export interface TapOptions {
  readonly dialect: DialectName | 'auto'
  readonly port: number
  readonly host: string
  readonly server?: string
  readonly dataDir?: string
  readonly out?: string
  readonly json?: true
}

/** Records until Ctrl-C; resolves with the exit code. */
export async function tapCommand(url: string, options: TapOptions, env: Env): Promise<number> {
  if (!isUrl(url))
    throw new CommandError(`tap needs the URL of a server, such as http://127.0.0.1:8080, not '${url}'`, 2)
  const keeper = await keepersOf(options, env)
  const { signal, release } = ctrlC()
  const { good, bad, warn, faint } = coloursOf(process.stdout)
  const findings: (Finding & { readonly stream: number })[] = []
  let streams = 0
  let unanswered = 0
  const work = new Set<Promise<void>>()
  const onTaped = async (taped: Taped): Promise<void> => {
    const stream = ++streams
    findings.push(...taped.report.findings.map((finding) => ({ ...finding, stream })))
    const places = taped.rows.length === 0 ? [] : await keeper.keep(taped)
    const { method, path, status, report, took, bytes } = taped
    if (options.json === true) {
      const { session, early, ending } = taped
      const line = { stream, method, path, status, bytes, took, early, session, outcome: ending?.outcome, places }
      sayLine(JSON.stringify({ ...line, ...report }))
      return
    }
    const problems =
      report.errors > 0
        ? bad(counted(report.errors, 'error'))
        : report.warnings > 0
          ? warn(counted(report.warnings, 'warning'))
          : good('no problems')
    const time = durationText(took) + (taped.early ? ', not read to its end' : '')
    const about = `${status}  ${report.dialect}  ${counted(report.events, 'event')}  ${time}${endingText(taped)}`
    sayLine(
      `${String(stream).padStart(3)}  ${method} ${visible(path)}  ${about}  ${problems}  ${faint(places.join(' '))}`.trimEnd(),
    )
  }
  const server = createServer(
    proxyHandler(url, {
      ...defined({ dialect: fromAuto(options.dialect) }),
      onTaped(taped) {
        const kept = taped
          .then(onTaped)
          .catch((error: Error) => remark(`millrace: a stream was not recorded: ${error.message}`))
        work.add(kept)
        void kept.finally(() => work.delete(kept))
      },
      onUnanswered(reason) {
        if (unanswered++ === 0) remark(`millrace: ${reason}; clients are answered with 502`)
      },
    }),
  )
  const address = await listening(server, options)
  if (options.json === true) sayLine(JSON.stringify({ address, url }))
  else sayLine(`Recording ${url}, listening on ${address}`)
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  server.close()
  server.closeAllConnections()
  // The tapes of streams that were open end with their connections, which are told in the next turn.
  await new Promise((resolve) => setImmediate(resolve))
  await Promise.all(work)
  await keeper.close()
  release()
  const errors = findings.filter(({ severity }) => severity === 'error').length
  if (options.json !== true) {
    sayLine(
      `\n${counted(streams, 'stream')}, ${findings.length === 0 ? good('no problems') : counted(findings.length, 'problem')}`,
    )
    const cells = findings.map(({ stream, frame, severity, message, code }) => [
      `  ${stream}`,
      frame === undefined ? 'the end' : `frame ${frame}`,
      severity === 'error' ? bad(severity) : warn(severity),
      visible(message),
      faint(code),
    ])
    for (const line of aligned(cells)) sayLine(line)
  }
  if (unanswered > 0) remark(`millrace: ${counted(unanswered, 'request')} not answered by ${url}`)
  return errors > 0 || unanswered > 0 ? 1 : 0
}

/** How a run ended, unless it was done. The stream of a failed run may itself be valid. */
function endingText({ ending, early }: Taped): string {
  if (ending === undefined || ending.outcome === 'done' || early) return ''
  const why = ending.error === undefined ? '' : `: ${oneLine(ending.error.message, 80)}`
  return `  run ${ending.outcome}${why}`
}
