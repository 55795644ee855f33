import { isUnseenEnd } from '../event/problem.ts'
import type { Call } from '../view/calls/state.ts'
import type { Execution } from '../view/timeline/state.ts'
import type { ReportFacts, ReportRun } from './facts.ts'
import { countOf, spanText } from './figures.ts'
import { html, type Markup, shortened } from './markup.ts'

/** Bars that are drawn of one run. */
const mostBars = 80
const width = 760
const labels = 210
const right = 64
const line = 20
const top = 22

interface Bar {
  readonly label: string
  readonly kind: 'agent' | 'model' | 'tool'
  readonly depth: number
  readonly from: number
  readonly to: number
  readonly first?: number
  /** Milliseconds. */
  readonly took: number
  readonly bad: boolean
  readonly title: string
}

/** The steps of a run with their calls as a drawing, in the order of their starts. */
export function waterfall(facts: ReportFacts, run: ReportRun): Markup | undefined {
  const { startedAt, endedAt, lastAt, error } = run
  const end = Math.max(startedAt + 1, (isUnseenEnd(error) ? undefined : endedAt) ?? lastAt)
  const bars = barsOf(facts, run.run, end)
  if (bars.length === 0) return undefined
  const drawn = bars.slice(0, mostBars)
  const height = top + drawn.length * line + 6
  const scale = (at: number): number =>
    labels + ((Math.min(Math.max(at, startedAt), end) - startedAt) / (end - startedAt)) * (width - labels - right)
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const x = scale(startedAt + part * (end - startedAt)).toFixed(1)
    return html`<line class="grid" x1="${x}" y1="${top - 4}" x2="${x}" y2="${height}"/><text class="tick" x="${x}" y="12" text-anchor="middle">${spanText(part * (end - startedAt))}</text>`
  })
  const more = bars.length - drawn.length
  return html`<figure><div class="wide"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Timeline of run ${run.number}">${ticks}${drawn.map((bar, i) => drawing(bar, i, scale))}</svg></div>
<figcaption><span class="key agent"></span> steps <span class="key model"></span> model calls, with the first token <span class="key tool"></span> tools <span class="key bad"></span> failed${more > 0 ? html`. ${countOf(more, 'more bar')} ${more === 1 ? 'is' : 'are'} not drawn.` : ''}</figcaption></figure>`
}

function drawing(
  { label, kind, depth, from, to, first, took, bad, title }: Bar,
  row: number,
  scale: (at: number) => number,
): Markup {
  const y = top + row * line
  const x = scale(from)
  const w = Math.max(2, scale(to) - x)
  const mark =
    first === undefined
      ? ''
      : html`<line class="first" x1="${scale(first).toFixed(1)}" y1="${y + 3}" x2="${scale(first).toFixed(1)}" y2="${y + 15}"/>`
  return html`<g><title>${title}</title><text class="label" x="${4 + depth * 12}" y="${y + 13}">${shortLabel(label, 30 - depth * 2)}</text><rect class="${bad ? 'bad' : kind}" x="${x.toFixed(1)}" y="${y + 3}" width="${w.toFixed(1)}" height="12" rx="2"/>${mark}<text class="time" x="${(x + w + 4).toFixed(1)}" y="${y + 13}">${spanText(took)}</text></g>`
}

function shortLabel(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

/** Each step, then the calls of its model and its tools. A call that ran as a step of its own has a bar already. */
function barsOf({ timeline, calls }: ReportFacts, run: string, end: number): readonly Bar[] {
  const steps = timeline.executions.toArray().filter((each) => each.run === run && each.superseded !== true)
  const answered = new Set(steps.flatMap(({ call }) => call ?? []))
  const owned = new Map<string, Call[]>()
  for (const call of calls.calls) {
    if (call.run !== run || (call.kind === 'tool' && answered.has(call.call))) continue
    const owner = call.node ?? call.agent
    const known = owned.get(owner)
    if (known === undefined) owned.set(owner, [call])
    else known.push(call)
  }
  const made: { readonly step: Execution; readonly bar: Bar; readonly inside: readonly Bar[] }[] = []
  for (const step of steps) {
    const depth = depthOf(step) + 1
    const own = [...(owned.get(step.node) ?? []), ...(owned.get(step.agent) ?? [])]
    owned.delete(step.node)
    owned.delete(step.agent)
    const inside = own.sort((a, b) => a.startSeq - b.startSeq).map((call) => callBar(call, depth, end))
    made.push({ step, bar: stepBar(step, end), inside })
  }
  // A step reaches as far as what is inside it. Steps come in the order of their starts: inner ones later.
  const reach = new Map<string, number>()
  for (const { step, bar, inside } of made.toReversed()) {
    const latest = Math.max(bar.to, reach.get(step.node) ?? 0, ...inside.map(({ to }) => to))
    reach.set(step.node, latest)
    if (step.parent !== undefined) reach.set(step.parent, Math.max(latest, reach.get(step.parent) ?? 0))
  }
  const bars = made.flatMap(({ step, bar, inside }) => [{ ...bar, to: reach.get(step.node) ?? bar.to }, ...inside])
  return [...bars, ...[...owned.values()].flat().map((call) => callBar(call, 0, end))]
}

function depthOf({ path }: Execution): number {
  return Math.min(5, path.split('/').length - 1)
}

function stepBar(step: Execution, end: number): Bar {
  const { agent, node, startedAt, status, error } = step
  const isUnseen = isUnseenEnd(error)
  const endedAt = Math.min(step.endedAt ?? end, isUnseen ? end : Number.POSITIVE_INFINITY)
  const took = (isUnseen ? undefined : step.duration) ?? endedAt - startedAt
  const title = `${node}: ${spanText(took)}${error === undefined ? '' : `, ${error.message}`}`
  const bad = status === 'error'
  return {
    label: agent,
    kind: 'agent',
    depth: depthOf(step),
    from: startedAt,
    to: endedAt,
    took,
    bad,
    title: shortened(title, 300),
  }
}

function callBar(call: Call, depth: number, end: number): Bar {
  const { name, kind, startedAt, status, firstToken, usage } = call
  // As on the page, the record says how long a call took; its events may come a little later.
  const endedAt = call.duration === undefined ? (call.endedAt ?? end) : startedAt + call.duration
  const tokens = usage?.totalTokens === undefined ? '' : `, ${countOf(usage.totalTokens, 'token')}`
  return {
    label: name,
    kind,
    depth,
    from: startedAt,
    to: endedAt,
    took: endedAt - startedAt,
    bad: status === 'error',
    title: shortened(`${kind === 'model' ? 'Model' : 'Tool'} ${name}: ${spanText(endedAt - startedAt)}${tokens}`, 300),
    ...(firstToken === undefined ? {} : { first: startedAt + firstToken }),
  }
}
