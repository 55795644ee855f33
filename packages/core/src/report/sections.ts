import { costsText } from '../event/price.ts'
import { isUnseenEnd } from '../event/problem.ts'
import { citedSources } from '../view/proof/cited.ts'
import type { Proof } from '../view/proof/fact.ts'
import type { Support } from '../view/proof/support.ts'
import type { ReportAnswer } from './answers.ts'
import type { ReportFacts, ReportRun } from './facts.ts'
import { countOf, countText, outcomeText, spanText, timeText } from './figures.ts'
import { inline, markdown } from './markdown.ts'
import { html, type Markup, shortened } from './markup.ts'
import { waterfall } from './waterfall.ts'

/** Limits of one run: a report stays a document that a browser opens at once. */
const most = { question: 4000, answer: 24_000, figures: 80, proofs: 40, sources: 60, excerpt: 240 }

export function wordMark(word: string): Markup {
  return html`<span class="word ${word.split(' ')[0]}">${word}</span>`
}

export function runSection(facts: ReportFacts, run: ReportRun, answer: ReportAnswer | undefined): Markup {
  const { number, agent, startedAt, outcome, error } = run
  const word = outcomeText(outcome, error?.code)
  return html`<section class="run"><h2>Run ${number} · ${agent} ${wordMark(word)}</h2>
<p class="meta">${timeText(startedAt)}${timeOf(run)} · ${causeText(run)}</p>
${run.question.trim() === '' ? '' : html`<div class="question">${shortened(run.question, most.question)}</div>`}
${answer === undefined ? html`<p class="faint">The log has no answer of this run.</p>` : briefing(answer)}
${error === undefined || outcome !== 'failed' ? '' : html`<p class="bad-word">${shortened(error.message, 1000)}</p>`}
${runFigures(facts, run)}
${answer?.figures === undefined ? '' : claims(facts, answer, answer.figures)}
${evidence(facts, run)}
${drawn(facts, run)}</section>`
}

function timeOf({ startedAt, endedAt, lastAt, error }: ReportRun): string {
  if (endedAt === undefined) return ''
  return ` · ${spanText((isUnseenEnd(error) ? lastAt : endedAt) - startedAt)}`
}

function causeText({ cause }: ReportRun): string {
  if (cause === 'plan') return 'a person executed the plan'
  return cause === 'answer' ? 'a person answered a question' : 'a person asked'
}

function briefing({ message: { author, text, status } }: ReportAnswer): Markup {
  const cut = status === 'cut' ? html`<p class="faint">The run ended before this answer did.</p>` : ''
  return html`<h3>Answer of ${author}</h3><div class="answer">${markdown(shortened(text, most.answer))}</div>${cut}`
}

function runFigures({ usage, spent }: ReportFacts, { run }: ReportRun): Markup {
  const used = usage.runs.toArray().find((each) => each.run === run)
  const { totalTokens, inputTokens, outputTokens, modelCalls } = used?.usage ?? {}
  return figureCells([
    ['Model calls', countText(modelCalls)],
    ['Tokens', countText(totalTokens)],
    ['In / out', `${countText(inputTokens)} / ${countText(outputTokens)}`],
    ['First token', used?.firstToken === undefined ? '–' : spanText(used.firstToken)],
    ['Cost', costsText(spent.runs.get(run))],
  ])
}

export function figureCells(cells: readonly (readonly [string, string])[]): Markup {
  return html`<dl class="figures">${cells.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

const states = { held: 'supported', stated: 'only stated', unheld: 'unsupported' } as const

/** Every figure of the answer, with the place that holds it. Those that nothing holds come first. */
function claims(
  { about }: ReportFacts,
  { isCut }: ReportAnswer,
  figures: NonNullable<ReportAnswer['figures']>,
): Markup {
  if (figures.length === 0) return html`<p class="faint">There is no figure to look up in this answer.</p>`
  const order = ['unheld', 'stated', 'held']
  const sorted = figures.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
  const count = (state: string): number => figures.filter((each) => each.state === state).length
  const rows = sorted.slice(0, most.figures).map(
    ({
      text,
      sentence,
      state,
      place,
    }) => html`<tr><td class="claim"><strong>${text}</strong></td><td>${inline(shortened(sentence, most.excerpt))}</td>
<td><span class="${state}">${states[state]}</span>${place === undefined ? html`<br><span class="faint">nothing in the log supports it</span>` : html`<br><span class="faint">${placeText(place, about.run)}</span>`}</td></tr>`,
  )
  const left = sorted.length - rows.length
  return html`<h3>Figures in the answer</h3>
<p>${countOf(figures.length, 'figure')}: ${count('held')} supported by results, ${count('stated')} only stated in words, ${count('unheld')} unsupported.${isCut ? ' Only the newest 5,000 results and messages were searched.' : ''}</p>
<table><thead><tr><th>Figure</th><th>Sentence</th><th>Held by</th></tr></thead><tbody>${rows}</tbody></table>
${left > 0 ? html`<p class="faint">${countOf(left, 'more figure')} ${left === 1 ? 'is' : 'are'} not listed.</p>` : ''}`
}

/** The report of one run has no words of others: what an earlier run found is named by its event alone. */
function placeText({ evidence: { name, run, seq }, path, excerpt }: Support, only: string | undefined): string {
  if (only !== undefined && run !== only) return `${shortened(name, 120)} · event ${seq}, in an earlier run`
  return `${name}${path === '' ? '' : ` · ${shortened(path, 120)}`} · event ${seq}: ${shortened(excerpt, most.excerpt)}`
}

function evidence({ proof }: ReportFacts, { run }: ReportRun): Markup {
  const proofs = proof.proofs.toArray().filter((each) => each.run === run && each.superseded !== true)
  const shown = proofs.filter(hasSomething)
  const sources = citedSources(proofs)
  if (shown.length === 0)
    return html`<p class="faint">No answer or result of this run states a confidence or a source.</p>`
  const rows = shown.slice(-most.proofs).map(
    (each) => html`<tr><td>${each.author}<br><span class="faint">${each.kind}, event ${each.seq}</span></td>
<td class="n">${confidenceText(each)}</td><td>${shortened(each.regulatoryBasis.map(({ text }) => text).join('; '), 600)}</td><td class="n">${each.sources.length + each.citations.length}</td></tr>`,
  )
  const cited = sources
    .slice(0, most.sources)
    .map(
      ({ title, detail, excerpt, uri, by }) =>
        html`<li><span>•</span><div>${shortened(title, 300)}${detail === undefined ? '' : html` – ${shortened(detail, 300)}`}${excerpt === undefined ? '' : html`<br><span class="faint">“${shortened(excerpt, most.excerpt)}”</span>`}${uri === undefined ? '' : html` <span class="address">(${shortened(uri, 300)})</span>`}<br><span class="faint">cited by ${shortened(by.join(', '), 300)}</span></div></li>`,
    )
  const left = sources.length - cited.length
  return html`<h3>Evidence</h3><table><thead><tr><th>By</th><th class="n">Confidence</th><th>Rules</th><th class="n">Sources</th></tr></thead><tbody>${rows}</tbody></table>
${cited.length === 0 ? '' : html`<h3>Sources</h3><ul class="list">${cited}</ul>`}${left > 0 ? html`<p class="faint">${countOf(left, 'more source')} ${left === 1 ? 'is' : 'are'} not listed.</p>` : ''}`
}

function hasSomething({ confidences, sources, citations, regulatoryBasis }: Proof): boolean {
  return confidences.length + sources.length + citations.length + regulatoryBasis.length > 0
}

function confidenceText({ confidence }: Proof): string {
  if (confidence === undefined) return '–'
  const { value, level } = confidence
  const percent = value === undefined ? '' : `${Math.round(value * 100)} %`
  return [percent, level].filter((each) => each !== undefined && each !== '').join(' ')
}

function drawn(facts: ReportFacts, run: ReportRun): Markup {
  const drawing = waterfall(facts, run)
  return drawing === undefined ? html`` : html`<h3>Timeline</h3>${drawing}`
}
