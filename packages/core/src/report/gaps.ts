import { problemsAtEnd } from '../view/problems/index.ts'
import { itemsOf, openInterrupts } from '../view/transcript/index.ts'
import type { ReportAnswer } from './answers.ts'
import type { ReportFacts, ReportRun } from './facts.ts'
import { countOf, outcomeText } from './figures.ts'
import { html, type Markup, shortened } from './markup.ts'

/** How many failures, and how many findings about the stream, are listed. */
const mostListed = 60

/** What is missing or went wrong: what a reader must know before trusting the rest. */
export function gapsSection(
  facts: ReportFacts,
  runs: readonly ReportRun[],
  answers: ReadonlyMap<string, ReportAnswer>,
): Markup {
  const gaps = [...gapsOf(facts, runs, answers)]
  const failures = [...failuresOf(facts, runs)]
  const findings = problemsAtEnd(facts.problems)
    .problems.toArray()
    .filter(({ severity }) => severity !== 'info')
  return html`<section><h2>Gaps and problems</h2>
${listed('Gaps', gaps, 'Every figure of the answers is supported by the log, every question is answered and every run has ended.')}
${listed('Failures', failures, 'No run, step or tool failed.')}
${listed(
  'The stream',
  findings.map(({ seq, message }) => `Event ${seq}: ${message}`),
  'The stream keeps its contract.',
)}</section>`
}

function listed(title: string, lines: readonly string[], none: string): Markup {
  if (lines.length === 0) return html`<h3>${title}</h3><p class="faint">${none}</p>`
  const left = lines.length - mostListed
  return html`<h3>${title} (${lines.length})</h3><ul class="list">${lines
    .slice(0, mostListed)
    .map(
      (line) => html`<li><span>•</span><div>${shortened(line, 500)}</div></li>`,
    )}</ul>${left > 0 ? html`<p class="faint">${countOf(left, 'more')} not listed.</p>` : ''}`
}

function* gapsOf(
  { transcript, calls, runs: all }: ReportFacts,
  runs: readonly ReportRun[],
  answers: ReadonlyMap<string, ReportAnswer>,
): Generator<string> {
  if (all.length > runs.length) yield `Only the newest ${runs.length} of ${all.length} runs are in this report.`
  for (const { run, number, outcome, error } of runs) {
    const word = outcomeText(outcome, error?.code)
    if (word === 'cut off') yield `Run ${number} was cut off: how it would have ended is not known.`
    if (word === 'running') yield `Run ${number} had not ended when this report was made.`
    const answer = answers.get(run)
    if (answer === undefined && outcome === 'done') yield `Run ${number} ended without an answer.`
    if (answer !== undefined && answer.figures === undefined) yield `The figures of run ${number} were not looked up.`
    for (const { text, state } of answer?.figures ?? [])
      if (state === 'unheld') yield `Run ${number}: nothing in the log supports the figure ${text}.`
  }
  for (const { message, reason } of openInterrupts(transcript)) yield `A question is not answered: ${message ?? reason}`
  const models = calls.calls.toArray().filter(({ kind }) => kind === 'model')
  const remote = models.filter((call) => call.remote === true && call.recorded !== true).length
  if (remote > 0)
    yield `${countOf(remote, 'model call')} ${remote === 1 ? 'was' : 'were'} made by another server, which does not send the prompt. The times of ${remote === 1 ? 'this call' : 'these calls'} were measured on arrival.`
  const silent = models.filter(({ recorded }) => recorded !== true).length - remote
  if (silent > 0) yield `The log does not have the prompt of ${countOf(silent, 'model call')}.`
  if (models.length === 0 && runs.length > 0) yield 'The log has no records of model calls.'
}

function* failuresOf({ transcript, timeline }: ReportFacts, runs: readonly ReportRun[]): Generator<string> {
  for (const { number, outcome, error } of runs)
    if (outcomeText(outcome, error?.code) === 'failed')
      yield `Run ${number} failed: ${error?.message ?? 'no reason is given'}`
  for (const { node, status, error, superseded } of timeline.executions)
    if (status === 'error' && superseded !== true)
      yield `Step ${node} failed: ${error?.message ?? 'no reason is given'}`
  for (const item of itemsOf(transcript)) {
    if (item.kind === 'foreign') yield `Event ${item.seq} could not be read: ${item.reason}`
    if (item.kind !== 'message' || item.superseded === true) continue
    for (const part of item.parts)
      if (part.kind === 'tool' && part.status === 'error')
        yield `Tool ${part.name} failed: ${part.error ?? 'no reason is given'}`
  }
}
