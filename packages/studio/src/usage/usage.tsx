import { costsText, type FirstToken, type Spent, type Usage, type UsageReport, usageView } from '@millrace/core'
import { useView } from '@millrace/react'
import { type ReactNode, useEffect, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { runsView, workedFor } from '../session/runs.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { Empty, Pill } from '../ui/controls.tsx'
import { duration } from '../ui/duration.ts'
import { FigureList } from '../ui/figure-list.tsx'
import { useSpent } from './prices.ts'
import './usage.css'

const whole = new Intl.NumberFormat('en')

/** Tokens, model calls and times, by agent and by run. A dash means that the model did not report the value. */
export function UsagePanel({ session, at }: PanelProps) {
  const report = useView(session.log, usageView, { at })
  const spent = useSpent(session, at)
  const spans = useView(session.log, runsView, { at })
  // The time to first token needs the tokens, and a long session is opened without them.
  useEffect(() => void session.fill(), [session])
  if (report.agents.length === 0) {
    return (
      <Empty icon="usage" title="No model calls yet">
        The tokens, calls and time to first token of each agent appear here.
      </Empty>
    )
  }
  const times = new Map(spans.toArray().map((span) => [span.run, workedFor(session.log, span)]))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable (axe: scrollable-region-focusable)
    <section className="usage-panel scroll" aria-label="Usage" tabIndex={0}>
      <Totals report={report} spent={spent} times={times} />
      <Models spent={spent} />
      <Agents report={report} spent={spent} />
      <Runs report={report} spent={spent} times={times} />
    </section>
  )
}

interface PartProps {
  readonly report: UsageReport
  readonly spent: Spent
}

interface TimedProps extends PartProps {
  /** How long each run worked; undefined while it works. */
  readonly times: ReadonlyMap<string, number | undefined>
}

function Totals({ report: { total, firstToken }, spent, times }: TimedProps) {
  const time = [...times.values()].reduce((sum: number, took) => sum + (took ?? 0), 0)
  const cells = [
    ['Tokens', number(total.totalTokens)],
    ['Model calls', number(total.modelCalls)],
    ['Cost', costsText(spent.total)],
    ['Mean first token', mean(firstToken)],
    ['Run time', time === 0 ? '–' : duration(time)],
  ] as const
  return <FigureList figures={cells} />
}

/** A wide table scrolls on its own, with the keyboard too. */
function Scroll({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable (axe: scrollable-region-focusable)
    <div className="table-scroll scroll" role="group" aria-label={name} tabIndex={0}>
      {children}
    </div>
  )
}

/** The models that were called. A log without records of calls does not say which. */
function Models({ spent: { models } }: Pick<PartProps, 'spent'>) {
  if (models.length === 0) return null
  return (
    <section className="panel-section" data-testid="usage-models">
      <h3>
        Models <Pill>{models.length}</Pill>
      </h3>
      <Scroll name="Models">
        <table>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">In</th>
              <th scope="col">Out</th>
              <th scope="col">Calls</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {models.map(({ model, usage, costs }) => (
              <tr key={model}>
                <th scope="row">{model}</th>
                <td className="number">{number(usage.inputTokens)}</td>
                <td className="number">{number(usage.outputTokens)}</td>
                <td className="number">{number(usage.modelCalls)}</td>
                <td className="number">{costsText(costs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

function Agents({ report, spent }: PartProps) {
  const agents = report.agents.toArray()
  const most = Math.max(1, ...agents.map((each) => each.usage.totalTokens ?? 0))
  return (
    <section className="panel-section">
      <h3>
        Agents <Pill>{agents.length}</Pill>
      </h3>
      <Scroll name="Agents">
        <table>
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">In</th>
              <th scope="col">Out</th>
              <th scope="col">Total</th>
              <th scope="col">Calls</th>
              <th scope="col" title="Mean time to first token">
                Mean first token
              </th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {agents.map((each) => (
              <tr key={each.agent} data-testid="usage-row">
                <th scope="row">
                  <span className="agent-cell">
                    <i style={{ background: agentColour(each.agent) }} />
                    <span className="ellipsis">{each.agent}</span>
                  </span>
                  <Split usage={each.usage} most={most} agent={each.agent} />
                </th>
                <td className="number">{number(each.usage.inputTokens)}</td>
                <td className="number">{number(each.usage.outputTokens)}</td>
                <td className="number">{number(each.usage.totalTokens)}</td>
                <td className="number">{number(each.usage.modelCalls)}</td>
                <td
                  className="number"
                  title={
                    each.firstToken === undefined ? 'Not measured' : `longest ${duration(each.firstToken.longest)}`
                  }
                >
                  {mean(each.firstToken)}
                </td>
                <td className="number">{costsText(spent.agents.get(each.agent))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

/** Input and output tokens as fractions of the largest total of any agent. */
function Split({
  usage: { inputTokens = 0, outputTokens = 0 },
  most,
  agent,
}: {
  readonly usage: Usage
  readonly most: number
  readonly agent: string
}) {
  const colour = agentColour(agent)
  return (
    <span className="split" aria-hidden="true">
      <span style={{ width: `${(inputTokens / most) * 100}%`, background: colour, opacity: 0.4 }} />
      <span style={{ width: `${(outputTokens / most) * 100}%`, background: colour }} />
    </span>
  )
}

const someRuns = 20

function Runs({ report, spent, times }: TimedProps) {
  const [most, setMost] = useState(someRuns)
  const runs = report.runs.toArray()
  const first = Math.max(0, runs.length - most)
  return (
    <section className="panel-section">
      <h3>
        Runs <Pill>{runs.length}</Pill>
        <span className="spacer" />
        {first > 0 && (
          <button type="button" className="more" onClick={() => setMost(most * 4)}>
            {first} earlier
          </button>
        )}
      </h3>
      <Scroll name="Runs">
        <table>
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">Tokens</th>
              <th scope="col">Calls</th>
              <th scope="col" title="The wait of the first model call of the run">
                First token
              </th>
              <th scope="col">Time</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {runs.slice(first).map((each, i) => (
              <tr key={each.run}>
                <th scope="row" title={each.run}>
                  {first + i + 1}. {each.agent}
                </th>
                <td className="number">{number(each.usage.totalTokens)}</td>
                <td className="number">{number(each.usage.modelCalls)}</td>
                <td className="number">{each.firstToken === undefined ? '–' : duration(each.firstToken)}</td>
                <td className="number">{timeOf(times.get(each.run))}</td>
                <td className="number">{costsText(spent.runs.get(each.run))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  )
}

function number(value: number | undefined): string {
  return value === undefined ? '–' : whole.format(value)
}

/** A recording without times has runs of 0 ms: how long they took is not known. */
const timeOf = (took: number | undefined): string =>
  took === undefined ? 'running' : took === 0 ? '–' : duration(took)

function mean(wait: FirstToken | undefined): string {
  return wait === undefined || wait.calls === 0 ? '–' : duration(wait.total / wait.calls)
}
