import type { CaseFinding } from '@millrace/server'
import { aligned, type Colours, columnsOf, counted, durationText } from '../terminal.ts'
import type { CaseResult } from './run-cases.ts'

/** One line for a case, and under a case that failed what it did otherwise. */
export function caseLines(
  result: CaseResult,
  width: number,
  colours: Colours,
  columns = Number.POSITIVE_INFINITY,
): readonly string[] {
  const { found, verdicts, passed, error } = result
  const { calls, tokens, seconds, cost } = totalOf(result)
  const good = verdicts.filter(({ findings }) => findings.length === 0).length
  const figures = [
    ...(verdicts.length > 1 ? [`${good} of ${verdicts.length} runs passed`] : []),
    ...(verdicts.length === 0
      ? []
      : [counted(calls, 'model call'), counted(tokens, 'token'), ...(cost > 0 ? [`$${cost.toFixed(4)}`] : [])]),
    ...(verdicts.length === 0 ? [] : [durationText(seconds * 1000)]),
  ]
  const mark = passed ? colours.good('✓') : colours.bad('✗')
  const details = colours.faint(figures.join(' · '))
  const head = `${mark} ${found.name.padEnd(width)}  ${details}`.trimEnd()
  const isWide = columnsOf(head) <= columns
  const unplayable = Math.max(0, ...verdicts.map((verdict) => verdict.unplayable))
  const shown = isWide ? [head] : [`${mark} ${found.name}`, `    ${details}`]
  const heads = unplayable === 0 ? shown : [...shown, `    ${colours.warn(unplayableText(unplayable))}`]
  if (passed && good === verdicts.length) return heads
  if (error !== undefined) return [...heads, `    ${colours.bad(error)}`]
  return [...heads, ...findingLines(distinct(result), colours)]
}

/** Why a run without a key may still call a model. */
export function unplayableText(calls: number): string {
  const what = calls === 1 ? '1 model call is' : `${calls} model calls are`
  return `${what} made in each test and cannot be recorded: its chat model has a copy of @langchain/core that the agent’s files do not import; use chatModel(…) instead`
}

export function findingLines(findings: readonly CaseFinding[], colours: Colours): readonly string[] {
  const rows = findings.map(({ judge, turn, message }) => [
    colours.warn(judge),
    turn === undefined ? message : `turn ${turn}: ${message}`,
  ])
  return aligned(rows).map((line) => `    ${line}`)
}

/** The findings of all runs of a case, each once. */
function distinct({ verdicts }: CaseResult): readonly CaseFinding[] {
  const all = verdicts.flatMap(({ findings }) => findings)
  return [...new Map(all.map((finding) => [JSON.stringify(finding), finding])).values()]
}

/** `left`: cases that did not run, because Ctrl-C came before them. */
export function summaryLine(results: readonly CaseResult[], ms: number, colours: Colours, left = 0): string {
  const failed = results.filter(({ passed }) => !passed).length
  const good = colours.good(`${results.length - failed} passed`)
  const parts = [
    good,
    ...(failed === 0 ? [] : [colours.bad(`${failed} failed`)]),
    ...(left === 0 ? [] : [colours.warn(`${left} not run`)]),
  ]
  return `${parts.join(', ')} ${colours.faint(`in ${durationText(ms)}`)}`
}

/** The results for machines. */
export function jsonReport(results: readonly CaseResult[], ms: number): object {
  return {
    passed: results.filter(({ passed }) => passed).length,
    failed: results.filter(({ passed }) => !passed).length,
    seconds: ms / 1000,
    cases: results.map(({ found, verdicts, passed, error }) => ({
      case: found.name,
      agent: found.one.agent,
      passed,
      ...(error === undefined ? {} : { error }),
      runs: verdicts.map(({ findings, facts: { calls, tokens, cost, seconds } }) => ({
        findings,
        calls,
        tokens,
        cost,
        seconds,
      })),
    })),
  }
}

/** A report that CI servers read: a suite for each agent. */
export function junitReport(results: readonly CaseResult[]): string {
  const agents = [...new Set(results.map(({ found }) => found.one.agent))]
  const suites = agents.map((agent) => {
    const own = results.filter(({ found }) => found.one.agent === agent)
    const bad = own.filter(({ passed }) => !passed).length
    return `  <testsuite name="${xml(agent)}" tests="${own.length}" failures="${bad}">\n${own.map(junitCase).join('')}  </testsuite>\n`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="millrace">\n${suites.join('')}</testsuites>\n`
}

function junitCase(result: CaseResult): string {
  const { found, passed, error } = result
  const head = `    <testcase name="${xml(found.name)}" classname="${xml(found.one.agent)}" time="${totalOf(result).seconds.toFixed(3)}"`
  if (passed) return `${head}/>\n`
  const lines =
    error === undefined
      ? distinct(result).map(
          ({ judge, turn, message }) => `${judge}${turn === undefined ? '' : ` (turn ${turn})`}: ${message}`,
        )
      : [error]
  return `${head}>\n      <failure message="${xml(lines[0] ?? '')}">${xml(lines.join('\n'))}</failure>\n    </testcase>\n`
}

function totalOf({ verdicts }: CaseResult): {
  readonly calls: number
  readonly tokens: number
  readonly seconds: number
  readonly cost: number
} {
  const sum = (pick: (facts: CaseResult['verdicts'][number]['facts']) => number): number =>
    verdicts.reduce((total, { facts }) => total + pick(facts), 0)
  return {
    calls: sum(({ calls }) => calls),
    tokens: sum(({ tokens }) => tokens),
    seconds: sum(({ seconds }) => seconds),
    cost: sum(({ cost = 0 }) => cost),
  }
}

const xml = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML may not have them
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
