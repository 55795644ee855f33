import { costsText } from '../event/price.ts'
import type { Feedback } from '../view/feedback/state.ts'
import type { ReportFacts } from './facts.ts'
import { countOf, countText, timeText } from './figures.ts'
import { inline } from './markdown.ts'
import { html, type Markup, shortened } from './markup.ts'

const most = { tasks: 100, feedback: 200, models: 40 }

export function modelsSection({ spent: { models } }: ReportFacts): Markup {
  if (models.length === 0) return html``
  const rows = models
    .slice(0, most.models)
    .map(
      ({ model, usage, costs }) =>
        html`<tr><td>${shortened(model, 120)}</td><td class="n">${countText(usage.modelCalls)}</td><td class="n">${countText(usage.inputTokens)}</td><td class="n">${countText(usage.outputTokens)}</td><td class="n">${costsText(costs)}</td></tr>`,
    )
  return html`<section><h2>Models</h2><table><thead><tr><th>Model</th><th class="n">Calls</th><th class="n">Tokens in</th><th class="n">Tokens out</th><th class="n">Cost</th></tr></thead><tbody>${rows}</tbody></table></section>`
}

export function planSection({ plan }: ReportFacts): Markup {
  const tasks = plan.tasks.toArray()
  if (tasks.length === 0) return html``
  const rows = tasks
    .slice(0, most.tasks)
    .map(
      ({ title, status, result = '' }) =>
        html`<tr><td>${shortened(title, 200)}</td><td class="w">${status.replace('_', ' ')}</td><td>${inline(shortened(result, 600))}</td></tr>`,
    )
  const { total, completed, failed } = plan.summary
  return html`<section><h2>Plan</h2><p>${countOf(total, 'task')}: ${completed} done, ${failed} failed.</p>
<table><thead><tr><th>Task</th><th class="w">Status</th><th>Result</th></tr></thead><tbody>${rows}</tbody></table></section>`
}

const words = { up: '👍 good', down: '👎 bad' } as const

/** What persons think of the answers and steps. */
export function feedbackSection({ feedback }: ReportFacts): Markup {
  const given = feedback.given.toArray().filter(({ removed }) => removed !== true)
  if (given.length === 0) return html``
  const rows = given
    .slice(-most.feedback)
    .map(
      (each) =>
        html`<tr><td>${each.rating === undefined ? '' : words[each.rating]}</td><td>${shortened(each.note ?? '', 4000)}</td><td>${targetText(each)}</td><td>${each.by ?? 'a person'}<br><span class="faint">${timeText(each.at)}</span></td></tr>`,
    )
  return html`<section><h2>Feedback</h2><p>${countOf(feedback.up, 'thumb up', 'thumbs up')}, ${countOf(feedback.down, 'thumb down', 'thumbs down')}, ${countOf(feedback.notes, 'note')}.</p>
<table><thead><tr><th>Rating</th><th>Note</th><th>About</th><th>By</th></tr></thead><tbody>${rows}</tbody></table></section>`
}

function targetText({ about: { message, call, node } }: Feedback): string {
  if (message !== undefined) return `the message ${shortened(message, 60)}`
  if (call !== undefined) return `the call ${shortened(call, 60)}`
  return node === undefined ? 'the run' : `the step ${shortened(node, 80)}`
}
