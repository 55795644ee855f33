import { type ProblemsState, problemsAtEnd, problemsView, type Severity, type StreamProblem } from '@millrace/core'
import { useConnectionState, useView } from '@millrace/react'
import { useMemo, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { goTo } from '../session/cursor.ts'
import { isFile } from '../session/files.ts'
import { Empty, Pill, type Tone } from '../ui/controls.tsx'
import './problems.css'

const tones: Readonly<Record<Severity, Tone>> = { error: 'bad', warning: 'warn', info: 'soft' }
const severities: readonly Severity[] = ['error', 'warning', 'info']

const someProblems = 100

/** Violations of the contract, losses and doubtful events in the stream, each with a link to its event. */
export function ProblemsPanel({ session, at }: PanelProps) {
  const state = useView(session.log, problemsView, { at })
  const connection = useConnectionState(session)
  // A recording from a file is complete, so a run without an end is a problem there, and only there.
  const over = at === undefined && isFile(session.id) && connection.phase === 'closed'
  const settled: ProblemsState = useMemo(() => (over ? problemsAtEnd(state) : state), [over, state])
  const [hidden, setHidden] = useState<ReadonlySet<Severity>>(new Set())
  const [most, setMost] = useState(someProblems)
  const found = settled.problems.toArray()
  if (found.length === 0) {
    return (
      <Empty icon="check" title="No problems">
        {session.log.lastSeq === 0
          ? 'Every event is checked as it arrives: order, pairing, text, state, tools.'
          : `All ${at ?? session.log.lastSeq} events follow the contract.`}
      </Empty>
    )
  }
  const shown = found.filter(({ severity }) => !hidden.has(severity))
  const count = (severity: Severity): number => found.filter((each) => each.severity === severity).length
  return (
    <div className="problems-panel scroll">
      <div className="panel-bar">
        {severities.map((severity) => (
          <button
            type="button"
            key={severity}
            className="filter"
            aria-pressed={!hidden.has(severity)}
            disabled={count(severity) === 0}
            onClick={() => setHidden(toggled(hidden, severity))}
          >
            <Pill tone={tones[severity]}>{count(severity)}</Pill> {severity}
          </button>
        ))}
        <span className="spacer" />
        {settled.total > found.length && <span className="faint">{settled.total} in total</span>}
      </div>
      <ul className="problem-list">
        {shown.slice(0, most).map((each, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list only grows, and one event may show a problem twice
          <ProblemRow key={i} problem={each} here={each.seq === at} />
        ))}
        {shown.length > most && (
          <li>
            <button type="button" className="more" onClick={() => setMost(most * 4)}>
              {shown.length - most} more
            </button>
          </li>
        )}
      </ul>
    </div>
  )
}

function ProblemRow({ problem, here }: { readonly problem: StreamProblem; readonly here: boolean }) {
  const { code, severity, message, seq, earlier, node } = problem
  return (
    <li className={`problem ${severity} ${here ? 'here' : ''}`}>
      <button type="button" data-testid="problem-row" onClick={() => goTo(seq)} title={`Go to event ${seq}`}>
        <span className="problem-head">
          <code>{code}</code>
          <span className="number faint">
            #{seq}
            {earlier !== undefined && ` and #${earlier}`}
          </span>
          {node !== undefined && <span className="faint ellipsis">{node}</span>}
        </span>
        <span className="problem-text">{message}</span>
      </button>
    </li>
  )
}

function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const next = new Set(set)
  if (!next.delete(item)) next.add(item)
  return next
}
