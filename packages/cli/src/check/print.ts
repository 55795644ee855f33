import type { Finding } from '../lint-stream.ts'
import { sayLine } from '../output.ts'
import {
  aligned,
  type Colours,
  coloursOf,
  columnsOf,
  counted,
  hanging,
  oneLine,
  visible,
  widthOf,
} from '../terminal.ts'
import type { Checked } from './report.ts'

/** The report for people: a heading, a line for each finding, and a summary. */
export function printChecked(report: Checked): void {
  const colours = coloursOf(process.stdout)
  const { source, dialect, events, unread, probes = [] } = report
  if (unread !== undefined) {
    sayLine(`${colours.strong(source)}\n  ${colours.bad('error')}  ${visible(unread)}\n`)
    return
  }
  sayLine(`${colours.strong(source)}  ${colours.faint(`${dialect}, ${counted(events, 'event')}`)}`)
  for (const line of findingLines(report, colours, widthOf(process.stdout))) sayLine(line)
  const probeCells = probes.map(({ name, ok, message }) => [
    ok ? colours.good('ok') : colours.bad('error'),
    `probe: ${name}`,
    ok ? colours.faint(oneLine(message, 200)) : oneLine(message, 200),
  ])
  for (const line of aligned(probeCells)) sayLine(`  ${line}`)
  sayLine(`  ${summaryOf(report, colours)}\n`)
}

/** In a terminal that is too narrow for the columns, a message goes on below itself, with its code at the end. */
function findingLines({ findings, unit }: Checked, colours: Colours, width: number | undefined): readonly string[] {
  const rows = findings.map((finding) => cells(finding, unit, colours))
  const lines = aligned(rows).map((line) => `  ${line}`)
  if (width === undefined || lines.every((line) => columnsOf(line) <= width)) return lines
  const heads = aligned(rows.map(([place = '', severity = '']) => [place, severity]))
  const indent = Math.max(...heads.map(columnsOf)) + 4
  return rows.map(([, , message, code], i) => {
    const head = `  ${heads[i]}`
    return head + ' '.repeat(indent - columnsOf(head)) + hanging(`${message} ${code}`, indent, width)
  })
}

function cells({ frame, severity, code, message }: Finding, unit: string, colours: Colours): string[] {
  const paint = { error: colours.bad, warning: colours.warn, info: colours.accent }[severity]
  return [
    frame === undefined ? 'the end' : `${unit} ${frame}`,
    paint(severity),
    visible(message).replace(/\s+/g, ' '),
    colours.faint(code),
  ]
}

function summaryOf({ errors, warnings, infos, findings, probes = [] }: Checked, colours: Colours): string {
  const failed = probes.filter(({ ok }) => !ok).length
  const parts = [
    ...(errors > 0 ? [colours.bad(counted(errors, 'error'))] : []),
    ...(warnings > 0 ? [colours.warn(counted(warnings, 'warning'))] : []),
    ...(infos > 0 ? [counted(infos, 'remark')] : []),
    ...(failed > 0 ? [colours.bad(`${counted(failed, 'probe')} failed`)] : []),
  ]
  const more = errors + warnings + infos - findings.length
  if (parts.length === 0) return colours.good('no problems')
  return parts.join(', ') + (more > 0 ? colours.faint(` (${more} more of the same kinds are not listed)`) : '')
}
