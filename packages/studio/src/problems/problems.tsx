import {
  nodePath,
  type ProblemsState,
  problemsAtEnd,
  problemsView,
  runWord,
  type Severity,
  type StreamProblem,
} from '@millrace/core'
import { useConnectionState, useView } from '@millrace/react'
import { useMemo, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { goTo } from '../session/cursor.ts'
import { isFile } from '../session/files.ts'
import { Empty, Pill, type Tone } from '../ui/controls.tsx'
import { eventNumber } from '../ui/event-number.ts'
import { type Failure, failuresView } from './failures.ts'
import './problems.css'

const tones: Readonly<Record<Severity, Tone>> = { error: 'bad', warning: 'warn', info: 'soft' }
const severities: readonly Severity[] = ['error', 'warning', 'info']

const someProblems = 100

/** What failed for the person, each with its step; below it the doubtful events of the stream, each with its event. */
export function ProblemsPanel({ session, at }: PanelProps) {
  const state = useView(session.log, problemsView, { at })
  const failures = useView(session.log, failuresView, { at }).list.toArray()
  const connection = useConnectionState(session)
  // A recording from a file is complete, so a run without an end is a problem there, and only there.
  const over = at === undefined && isFile(session.id) && connection.phase === 'closed'
  const settled: ProblemsState = useMemo(() => (over ? problemsAtEnd(state) : state), [over, state])
  const found = settled.problems.toArray()
  if (found.length + failures.length === 0) {
    return (
      <Empty icon="check" title="No problems">
        {session.log.lastSeq === 0
          ? 'Every event is checked as it arrives: order, pairing, text, state, tools.'
          : `Nothing failed, and all ${(at ?? session.log.lastSeq).toLocaleString('en')} events follow the contract.`}
      </Empty>
    )
  }
  return (
    <div className="problems-panel scroll">
      <section className="panel-section" aria-label="Failures">
        <h3>What failed</h3>
        {failures.length === 0 && <p className="nothing">No run, step or tool failed.</p>}
        <ul className="problem-list">
          {failures.toReversed().map((failure) => (
            <FailureRow key={`${failure.seq} ${failure.tool ?? ''}`} failure={failure} here={failure.seq === at} />
          ))}
        </ul>
      </section>
      <section className="panel-section" aria-label="Findings in the stream">
        <h3>In the stream</h3>
        {found.length === 0 ? (
          <p className="nothing">All {(at ?? session.log.lastSeq).toLocaleString('en')} events follow the contract.</p>
        ) : (
          <Findings found={found} total={settled.total} at={at} />
        )}
      </section>
    </div>
  )
}

const kinds = { run: 'Run', step: 'Step', tool: 'Tool' } as const

function FailureRow({ failure, here }: { readonly failure: Failure; readonly here: boolean }) {
  const { kind, step, tool, message, code, seq } = failure
  const word = runWord('failed', code)
  return (
    <li className={`problem ${word === 'failed' ? 'error' : 'warning'} ${here ? 'here' : ''}`}>
      <button
        type="button"
        data-testid="failure-row"
        onClick={() => goTo(seq)}
        title={`Go to event ${eventNumber(seq)}`}
      >
        <span className="problem-head">
          <b>
            {kinds[kind]}
            {tool === undefined ? '' : ` ${tool}`} {word}
          </b>
          {step !== '' && <span className="ellipsis">in {nodePath(step)}</span>}
          <span className="number faint">#{seq}</span>
        </span>
        <span className="problem-text">{message}</span>
      </button>
    </li>
  )
}

const severityWord = (severity: Severity, count: number): string =>
  severity === 'info' || count === 1 ? severity : `${severity}s`

interface FindingsProps {
  readonly found: readonly StreamProblem[]
  readonly total: number
  readonly at: number | undefined
}

function Findings({ found, total, at }: FindingsProps) {
  const [hidden, setHidden] = useState<ReadonlySet<Severity>>(new Set())
  const [most, setMost] = useState(someProblems)
  const shown = found.filter(({ severity }) => !hidden.has(severity))
  const count = (severity: Severity): number => found.filter((each) => each.severity === severity).length
  return (
    <>
      <div className="problem-filters">
        {severities.map((severity) => (
          <button
            type="button"
            key={severity}
            className="filter"
            aria-pressed={!hidden.has(severity)}
            disabled={count(severity) === 0}
            onClick={() => setHidden(toggled(hidden, severity))}
          >
            <Pill tone={tones[severity]}>{count(severity)}</Pill> {severityWord(severity, count(severity))}
          </button>
        ))}
        <span className="spacer" />
        {total > found.length && <span className="faint">{total.toLocaleString('en')} in total</span>}
      </div>
      <ul className="problem-list">
        {shown.slice(0, most).map((each, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list only grows, and one event may show a problem twice
          <ProblemRow key={i} problem={each} here={each.seq === at} />
        ))}
        {shown.length > most && (
          <li>
            <button type="button" className="more" onClick={() => setMost(most * 4)}>
              {(shown.length - most).toLocaleString('en')} more
            </button>
          </li>
        )}
      </ul>
    </>
  )
}

function ProblemRow({ problem, here }: { readonly problem: StreamProblem; readonly here: boolean }) {
  const { code, severity, message, seq, earlier, node } = problem
  return (
    <li className={`problem ${severity} ${here ? 'here' : ''}`}>
      <button
        type="button"
        data-testid="problem-row"
        onClick={() => goTo(seq)}
        title={`Go to event ${eventNumber(seq)}`}
      >
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
