import { printCase, recordedAs } from '@millrace/server'
import { agentsFolder } from '../agents-folder.ts'
import { ask, isAsking } from '../ask.ts'
import { CommandError } from '../command-error.ts'
import { ctrlC, interruptedCode } from '../ctrl-c.ts'
import { sayJson, sayLine } from '../output.ts'
import { type Colours, coloursOf, counted, widthOf } from '../terminal.ts'
import { writeText } from '../write-text.ts'
import { findCases } from './case-files.ts'
import { caseLines, findingLines, jsonReport, junitReport, summaryLine } from './report.ts'
import { type CaseResult, CaseRunner } from './run-cases.ts'

export interface TestOptions {
  readonly live?: boolean
  readonly n: number
  readonly passRate: number
  readonly filter?: string
  readonly agents?: string
  readonly update?: boolean
  readonly yes?: boolean
  readonly open?: boolean
  readonly junit?: string
  readonly json?: boolean
}

/** Runs the cases and resolves with the exit code: 0 when all pass. */
export async function testCommand(paths: readonly string[], options: TestOptions): Promise<number> {
  if (options.update === true && options.yes !== true && !isAsking())
    throw new CommandError(
      '--update asks about each change, and no one is at this terminal; add --yes to accept all',
      2,
    )
  const found = findCases(paths.length === 0 ? [options.agents ?? agentsFolder()] : paths, options.agents).filter(
    ({ name }) => name.includes(options.filter ?? ''),
  )
  if (found.length === 0)
    throw new CommandError('there are no cases here; make one with `millrace record <agent> "what a user says"`')
  const { signal, release } = ctrlC()
  const { live = false, n: times, passRate } = options
  const runner = new CaseRunner({ live, times, passRate, signal })
  const colours = coloursOf(process.stdout)
  const width = Math.max(...found.map(({ name }) => name.length))
  const begun = performance.now()
  const results: CaseResult[] = []
  try {
    for (const one of found) {
      if (signal.aborted) break
      const result = await runner.run(one)
      if (signal.aborted) break
      results.push(result)
      if (options.json !== true)
        for (const line of caseLines(result, width, colours, widthOf(process.stdout))) sayLine(line)
    }
    const ms = performance.now() - begun
    if (options.junit !== undefined) writeText(options.junit, junitReport(results))
    if (options.json === true) sayJson(jsonReport(results, ms))
    else sayLine(`\n${summaryLine(results, ms, colours, found.length - results.length)}`)
    if (signal.aborted) return interruptedCode
    const failed = results.filter(({ passed }) => !passed)
    const changed = results.filter((result) => !result.passed || (live && hasNewAnswers(result)))
    const left = options.update === true ? await review(changed, options.yes === true, colours, signal) : failed
    if (signal.aborted) return interruptedCode
    if (options.open === true && left.length > 0) {
      const { showRuns } = await import('./show-runs.ts')
      await showRuns(left, signal)
    }
    return left.length === 0 ? 0 : 1
  } finally {
    release()
    await runner.close()
  }
}

/** With --live, a case may pass although its models answered otherwise than recorded. */
function hasNewAnswers({ found, verdicts }: CaseResult): boolean {
  const answers = verdicts.at(-1)?.answers
  return answers !== undefined && JSON.stringify(answers) !== JSON.stringify(found.one.answers ?? {})
}

/** Shows the changes of each case and writes those that are accepted; the rest is returned. */
async function review(
  changed: readonly CaseResult[],
  all: boolean,
  colours: Colours,
  signal: AbortSignal,
): Promise<readonly CaseResult[]> {
  const left: CaseResult[] = []
  let accept = all
  let stopped = false
  for (const result of changed) {
    const { found, verdicts, error } = result
    const verdict = verdicts.at(-1)
    if (!found.isOwn || verdict === undefined || error !== undefined || stopped) {
      left.push(result)
      continue
    }
    if (!accept) {
      sayLine(`\n${colours.strong(found.name)}`)
      if (verdict.findings.length === 0) sayLine('    its models answered otherwise than recorded')
      for (const line of findingLines(verdict.findings, colours)) sayLine(line)
      const said = await choice('  write what the agent does now? [y]es, [n]o, [a]ll, [q]uit ', signal)
      accept = said === 'a'
      stopped = said === 'q'
      if (said !== 'y' && !accept) {
        left.push(result)
        continue
      }
    }
    writeText(found.file, printCase(recordedAs(found.one, verdict)))
    sayLine(`${colours.good('updated')} ${found.name}`)
  }
  if (left.length > 0) sayLine(`${counted(left.length, 'case')} left as ${left.length === 1 ? 'it is' : 'they are'}`)
  return left.filter(({ passed }) => !passed)
}

/** Asks until the answer is one of the four; no more input means to quit. */
async function choice(question: string, signal: AbortSignal): Promise<'y' | 'n' | 'a' | 'q'> {
  for (;;) {
    const typed = await ask(question, signal)
    if (typed === undefined) return 'q'
    const [, said] = /^\s*(?:(y)(?:es)?|(n)o?|(a)(?:ll)?|(q)(?:uit)?)\s*$/i.exec(typed)?.filter(Boolean) ?? []
    if (said !== undefined) return said.toLowerCase() as 'y' | 'n' | 'a' | 'q'
  }
}
