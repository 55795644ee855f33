import { type StreamProblemCode, streamProblems } from '@millrace/core'
import { visible } from '../terminal.ts'
import type { Checked } from './report.ts'

/** The report as JUnit XML: a suite for each source, in it a case for each code of the linter and for each probe. */
export function junit(reports: readonly Checked[], strict: boolean): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    ...reports.map((r) => suite(r, strict)),
    '</testsuites>',
  ].join('\n')
}

interface Case {
  readonly name: string
  readonly failures: readonly string[]
  /** What was found and is no failure. */
  readonly notes: readonly string[]
}

function suite(report: Checked, strict: boolean): string {
  const cases = [...lintCases(report, strict), ...probeCases(report)]
  const failed = cases.filter(({ failures }) => failures.length > 0).length
  return [
    `  <testsuite name="${escaped(report.source)}" tests="${cases.length}" failures="${failed}">`,
    ...cases.map((each) => printCase(each, report.source)),
    '  </testsuite>',
  ].join('\n')
}

function lintCases({ unread, findings, unit }: Checked, strict: boolean): readonly Case[] {
  if (unread !== undefined) return [{ name: 'the stream is read', failures: [unread], notes: [] }]
  const codes = Object.keys(streamProblems) as readonly StreamProblemCode[]
  return codes.map((code) => {
    const found = findings.filter((finding) => finding.code === code)
    const lines = found.map(
      ({ frame, message }) => `${frame === undefined ? 'the end' : `${unit} ${frame}`}: ${message}`,
    )
    const [severity] = streamProblems[code]
    const fails = severity === 'error' || (strict && severity === 'warning')
    return { name: code, failures: fails ? lines : [], notes: fails ? [] : lines }
  })
}

function probeCases({ probes = [] }: Checked): readonly Case[] {
  return probes.map(({ name, ok, message }) => ({
    name: `probe: ${name}`,
    failures: ok ? [] : [message],
    notes: ok ? [message] : [],
  }))
}

function printCase({ name, failures, notes }: Case, source: string): string {
  const open = `    <testcase name="${escaped(name)}" classname="${escaped(source)}"`
  const [first] = failures
  if (first !== undefined)
    return `${open}><failure message="${escaped(first)}">${escaped(failures.join('\n'))}</failure></testcase>`
  return notes.length === 0 ? `${open} />` : `${open}><system-out>${escaped(notes.join('\n'))}</system-out></testcase>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return visible(text).replace(/[&<>"]/g, (character) => entities[character] ?? character)
}
