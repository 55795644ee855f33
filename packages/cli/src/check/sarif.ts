import { type StreamProblemCode, streamProblems } from '@millrace/core'
import { isUrl } from '../input.ts'
import { version } from '../version.ts'
import type { Checked } from './report.ts'

const levels = { error: 'error', warning: 'warning', info: 'note' } as const

/** The report as SARIF 2.1.0, which code hosts show beside the files. */
export function sarif(reports: readonly Checked[]): object {
  const codes = Object.keys(streamProblems) as readonly StreamProblemCode[]
  const rules = codes.map((id) => {
    const [severity, text] = streamProblems[id]
    return { id, shortDescription: { text }, defaultConfiguration: { level: levels[severity] } }
  })
  const others = [
    { id: 'unread-file', shortDescription: { text: 'The file is not a stream that Millrace knows.' } },
    { id: 'probe', shortDescription: { text: 'The server behaved badly.' } },
  ]
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'millrace check', version, rules: [...rules, ...others] } },
        results: reports.flatMap(resultsOf),
      },
    ],
  }
}

function resultsOf(report: Checked): readonly object[] {
  const { source, unit, unread, probes = [] } = report
  // An editor counts lines, so only those have a region; the number of a frame is part of the location's name.
  const place = (frame?: number): object => ({
    physicalLocation: {
      artifactLocation: { uri: isUrl(source) ? source : encodeURI(source) },
      ...(frame !== undefined && unit === 'line' ? { region: { startLine: frame } } : {}),
    },
    ...(frame === undefined ? {} : { logicalLocations: [{ name: `${unit} ${frame}`, kind: 'object' }] }),
  })
  const result = (ruleId: string, level: string, text: string, frame?: number): object => ({
    ruleId,
    level,
    message: { text },
    locations: [place(frame)],
  })
  return [
    ...(unread === undefined ? [] : [result('unread-file', 'error', unread)]),
    ...report.findings.map(({ code, severity, message, frame }) => {
      const text = frame === undefined ? message : `${unit} ${frame}: ${message}`
      return result(code, levels[severity], text, frame)
    }),
    ...probes.filter(({ ok }) => !ok).map(({ name, message }) => result('probe', 'error', `${name}: ${message}`)),
  ]
}
