import {
  type Calls,
  callsView,
  diffState,
  type FeedbackTarget,
  printRecorded,
  type Recorded,
  stateAt,
  stateView,
  timelineView,
  transcriptView,
} from '@millrace/core'
import { useView } from '@millrace/react'
import { useEffect, useMemo } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { root, routeNow } from '../app/route.ts'
import { EditButton } from '../change/edit-button.tsx'
import { FeedbackBar } from '../feedback/feedback.tsx'
import { rowIndexAt } from '../session/row-index.ts'
import { Differences } from '../state/differences.tsx'
import { agentColour } from '../ui/agent-colour.ts'
import { Empty, IconButton, Pill } from '../ui/controls.tsx'
import { LabelledCopy } from '../ui/copy.tsx'
import { Icon } from '../ui/icon.tsx'
import { SeqLink } from '../ui/seq-link.tsx'
import { asCurl } from '../wire/frames.ts'
import { asTest } from './as-test.ts'
import { Figures } from './figures.tsx'
import { ModelWords } from './model-words.tsx'
import { openStep, useStepChoice } from './open-step.ts'
import { callsIn, type SessionStep, stepAt, stepsOf } from './steps.ts'
import { ToolWords } from './tool-words.tsx'
import './step.css'

const tones = { running: 'accent', ok: 'ok', error: 'bad', cut: 'warn', waiting: 'warn', interrupted: 'warn' } as const
const words = {
  running: 'running',
  ok: 'done',
  error: 'failed',
  cut: 'cut off',
  waiting: 'waiting',
  interrupted: 'waiting',
} as const

/** One step of the session: what went in, what came out, what it cost. It follows the cursor, and j and k walk the steps. */
export function StepPanel({ session, at }: PanelProps) {
  const calls = useView(session.log, callsView)
  const line = useView(session.log, timelineView)
  const choice = useStepChoice()
  const steps = useMemo(() => stepsOf(calls, line), [calls, line])
  const { rows } = session.log
  const row = at === undefined ? undefined : rows[rowIndexAt(rows, at)]
  const here = stepAt(steps, at, { key: choice.at === at ? choice.key : undefined, row })
  useWalk(steps, here)
  const step = steps[here]
  if (step === undefined) {
    return (
      <Empty icon="step" title="No step at this moment">
        Click a message, a tool, a node, a bar of the timeline or a frame to see what went into it and what came out.
      </Empty>
    )
  }
  return (
    <div className="step-panel scroll" data-testid="step" data-step={step.key}>
      <Head step={step} position={here} steps={steps} />
      <Figures step={step} steps={steps} />
      <FeedbackBar key={step.key} session={session} about={targetOf(step)} />
      <Words step={step} steps={steps} calls={calls} session={session} />
      <StateOfStep step={step} session={session} />
      <Rows step={step} calls={calls} session={session} />
    </div>
  )
}

/** A step is rated as what it is in the log: a call, or an execution of a node. */
function targetOf({ call, execution }: SessionStep): FeedbackTarget {
  if (call !== undefined) return { run: call.run, call: call.call }
  return { run: execution?.run ?? '', ...(execution === undefined ? {} : { node: execution.node }) }
}

function open(step: SessionStep | undefined): void {
  if (step !== undefined) openStep(step.endSeq ?? step.startSeq, step.key)
}

/** j and k, as in mail and in code reviews. */
function useWalk(steps: readonly SessionStep[], here: number): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const by = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0
      const { target } = event
      const isTyping = target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null
      if (by === 0 || isTyping || event.metaKey || event.ctrlKey || event.altKey) return
      event.preventDefault()
      // Keys may come faster than the panel is drawn: the next step is the one after the step that was asked for last.
      const asked = useStepChoice.getState()
      const chosen = asked.at === routeNow().at ? steps.findIndex(({ key }) => key === asked.key) : -1
      open(steps[(chosen < 0 ? here : chosen) + by])
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [steps, here])
}

function Head({
  step,
  position,
  steps,
}: {
  readonly step: SessionStep
  readonly position: number
  readonly steps: readonly SessionStep[]
}) {
  const { call, execution } = step
  const status = call?.status ?? execution?.status ?? 'ok'
  const agent = call?.agent ?? execution?.agent ?? ''
  const name = call === undefined ? agent : `${agent} → ${call.name}`
  const node = call?.node ?? execution?.node
  const title = node === undefined ? name : `${name} in ${node}`
  return (
    <header className="step-head">
      <Icon name={call === undefined ? 'flow' : call.kind === 'model' ? 'thought' : 'tool'} />
      <h2 className="ellipsis" title={title}>
        <span style={{ color: agentColour(agent) }}>{agent}</span>
        {call !== undefined && <span className="faint"> → </span>}
        {call?.name}
      </h2>
      <Pill tone={tones[status]}>{words[status]}</Pill>
      <span className="spacer" />
      <span className="number faint">
        {position + 1} of {steps.length}
      </span>
      <IconButton
        icon="left"
        label="Previous step (k)"
        disabled={position === 0}
        onClick={() => open(steps[position - 1])}
      />
      <IconButton
        icon="right"
        label="Next step (j)"
        disabled={position === steps.length - 1}
        onClick={() => open(steps[position + 1])}
      />
    </header>
  )
}

interface PartProps {
  readonly step: SessionStep
  readonly calls: Calls
  readonly session: PanelProps['session']
}

function Words({ step, steps, calls, session }: PartProps & { readonly steps: readonly SessionStep[] }) {
  const { call, execution } = step
  const transcript = useView(session.log, transcriptView)
  if (call?.kind === 'model') return <ModelWords call={call} calls={calls} session={session.id} />
  if (call !== undefined) return <ToolWords call={call} transcript={transcript} session={session.id} />
  const inside = execution === undefined ? [] : callsIn(steps, execution)
  const hasModel = inside.some((each) => each.call?.kind === 'model')
  return (
    <section className="panel-section">
      <h3>
        Calls <Pill>{inside.length}</Pill>
      </h3>
      <ul className="step-calls">
        {inside.map((each) => (
          <li key={each.key}>
            <button type="button" className="link" onClick={() => open(each)} data-testid="step-call">
              <Icon name={each.call?.kind === 'model' ? 'thought' : 'tool'} /> {each.call?.name}
            </button>
          </li>
        ))}
      </ul>
      {!hasModel && (
        <p className="nothing" data-testid="step-no-prompt">
          The log has no record of a model call in this step: it called none, or the log comes from a server that
          records none. What it said is in the conversation.
        </p>
      )}
    </section>
  )
}

function StateOfStep({ step, session }: Omit<PartProps, 'calls'>) {
  const { startSeq, endSeq, call, execution } = step
  const run = call?.run ?? execution?.run ?? ''
  const state = useView(session.log, stateView)
  const differences = useMemo(
    () => diffState(stateAt(state, startSeq - 1), endSeq === undefined ? state.current : stateAt(state, endSeq)),
    [state, startSeq, endSeq],
  )
  return (
    <section className="panel-section" data-testid="step-state" aria-label="State in and out">
      <h3>
        State <span className="faint">in → out</span> <Pill>{differences.length}</Pill>
        <span className="spacer" />
        <EditButton
          session={session.id}
          target={{
            field: 'state',
            run,
            seq: Math.max(1, startSeq - 1),
            path: '',
            value: stateAt(state, startSeq - 1),
          }}
        />
      </h3>
      <Differences differences={differences} onWatch={() => openStep(endSeq ?? startSeq)} />
    </section>
  )
}

/** A step of a long run has thousands of rows; the first ones are enough to look at. */
const mostRows = 200

function Rows({ step, calls, session }: PartProps) {
  const { startSeq, endSeq = session.log.lastSeq } = step
  const { rows } = session.log
  const own = useMemo(() => rowsOf(rows, step, endSeq), [rows, step, endSeq])
  return (
    <section className="panel-section">
      <h3>
        Events <SeqLink seq={startSeq} />
        <span className="faint">to</span> <SeqLink seq={endSeq} />
        <span className="spacer" />
        <LabelledCopy label="as curl" text={() => asCurl(root, session.id, 'millrace', startSeq - 1)} />
        <LabelledCopy label="as test" text={() => asTest(step, calls, rows)} />
      </h3>
      <details className="step-system" data-testid="step-frames">
        <summary>
          Raw <Pill>{own.length}</Pill>
        </summary>
        <pre className="step-pre">{own.slice(0, mostRows).map(printRecorded).join('\n')}</pre>
        {own.length > mostRows && (
          <p className="nothing">{(own.length - mostRows).toLocaleString('en')} more are in the Wire panel.</p>
        )}
      </details>
    </section>
  )
}

function rowsOf(
  rows: readonly Recorded[],
  { startSeq, call, execution }: SessionStep,
  endSeq: number,
): readonly Recorded[] {
  const run = call?.run ?? execution?.run
  const node = call?.node ?? execution?.node
  return rows.filter(({ seq, run: of, event }) => {
    if (seq < startSeq || seq > endSeq || of !== run) return false
    return node === undefined || !('node' in event) || event.node === undefined || event.node === node
  })
}
