import { costsText } from '../event/price.ts'
import type { Recorded } from '../event/run-event.ts'
import { answersByRun } from './answers.ts'
import { feedbackSection, modelsSection, planSection } from './closing.ts'
import { FactsOfReport, type ReportAbout, type ReportFacts } from './facts.ts'
import { countOf, countText, spanText, timeText } from './figures.ts'
import { gapsSection } from './gaps.ts'
import { html, Markup, shortened } from './markup.ts'
import { figureCells, runSection } from './sections.ts'
import { style } from './style.ts'

export type { ReportAbout } from './facts.ts'

/** Makes a report of rows that come one by one. */
export interface ReportFold {
  push(row: Recorded): void
  /** One HTML document that needs nothing else: no script, no request. Its size is bounded, however long the log is. */
  html(): string
}

export function reportFold(about: ReportAbout): ReportFold {
  const fold = new FactsOfReport(about)
  return { push: (row) => fold.push(row), html: () => page(fold.facts()) }
}

/** The report of a session, or of one of its runs, as one HTML document. */
export function sessionReport(about: ReportAbout, rows: Iterable<Recorded>): string {
  const fold = reportFold(about)
  for (const row of rows) fold.push(row)
  return fold.html()
}

/** Runs in one report, the newest. */
const mostRuns = 40

/** Nothing may be loaded and no script may run, whatever the words of the agents are. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

function page(facts: ReportFacts): string {
  const { about } = facts
  const runs = facts.runs.slice(-mostRuns)
  const answers = answersByRun(facts, runs)
  const title = shortened(about.title === '' ? `Session ${about.session}` : about.title, 300)
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer"><title>${title}</title><style>${new Markup(style)}</style></head>
<body><header><h1>${title}</h1>${head(facts)}</header>
<main>${runs.map((run) => runSection(facts, run, answers.get(run.run)))}
${planSection(facts)}${gapsSection(facts, runs, answers)}${feedbackSection(facts)}${modelsSection(facts)}</main>
<footer>Made by Millrace from ${countOf(facts.events, 'event')} of the session ${shortened(about.session, 200)}. Times are in UTC. Costs follow the prices that were known when the calls were made${about.prices === undefined ? '' : ', or those of the reader'}.</footer>
</body></html>
`.text
}

function head({ about, runs, usage, spent }: ReportFacts): Markup {
  const first = runs[0]
  const last = runs.at(-1)
  const { total, firstToken } = usage
  const time = usage.runs.toArray().reduce((sum, run) => sum + (run.duration ?? 0), 0)
  const when =
    first === undefined || last === undefined
      ? ''
      : ` · ${timeText(first.startedAt)} to ${timeText(last.endedAt ?? last.lastAt)}`
  const wait = firstToken === undefined || firstToken.calls === 0 ? '–' : spanText(firstToken.total / firstToken.calls)
  return html`<p class="meta">${about.agent}${about.user === undefined ? '' : ` · ${about.user}`}${when}</p>
${figureCells([
  ['Runs', countText(runs.length)],
  ['Run time', spanText(time)],
  ['Model calls', countText(total.modelCalls)],
  ['Tokens', countText(total.totalTokens)],
  ['Mean first token', wait],
  ['Cost', costsText(spent.total)],
])}`
}
