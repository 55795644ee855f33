import { type Flow, flowView, type View } from '@millrace/core'
import { useView } from '@millrace/react'
import { ReactFlowProvider } from '@xyflow/react'
import { useMemo, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { type RunSpan, runsView } from '../session/runs.ts'
import { useSessions } from '../session/sessions.ts'
import { Empty } from '../ui/controls.tsx'
import { drawingOf } from './drawing.ts'
import { FlowGraph } from './graph.tsx'
import './flow.css'

/** The graph of the session: which node led to which, how often and with which state, within the graph of the agent. */
export function FlowPanel({ session, agent, at }: PanelProps) {
  const [run, setRun] = useState('')
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const runs = useView(session.log, runsView).toArray()
  const view = run === '' ? flowView : flowOfRun(run)
  const whole = useView(session.log, view)
  const shown = useView(session.log, view, { at })
  const ended = useView(session.log, runsView, { at }).toArray()
  const ran = runs.find((each) => each.run === run)?.agent ?? agent
  const plan = useSessions(({ agents }) => agents.find(({ name }) => name === ran)?.graph)
  const drawing = useMemo(() => drawingOf(whole, plan, open), [whole, plan, open])
  const toggle = (id: string): void => {
    const next = new Set(open)
    if (!next.delete(id)) next.add(id)
    setOpen(next)
  }
  if (drawing.nodes.length === 0) {
    return (
      <Empty icon="flow" title="No graph yet">
        Agents appear here as they run, with the paths they took and the state they passed on.
      </Empty>
    )
  }
  return (
    <>
      {runs.length > 1 && <RunFilter runs={runs} run={run} onRun={setRun} />}
      <ReactFlowProvider>
        <FlowGraph key={run} drawing={drawing} shown={shown} runs={ended} rows={session.log.rows} onToggle={toggle} />
      </ReactFlowProvider>
    </>
  )
}

interface RunFilterProps {
  readonly runs: readonly RunSpan[]
  readonly run: string
  readonly onRun: (run: string) => void
}

function RunFilter({ runs, run, onRun }: RunFilterProps) {
  return (
    <div className="panel-bar">
      <select
        aria-label="Runs in the graph"
        value={run}
        data-testid="flow-run"
        onChange={(event) => onRun(event.target.value)}
      >
        <option value="">All runs ({runs.length.toLocaleString('en')})</option>
        {runs.map(({ run: id, number, text, agent }) => (
          <option key={id} value={id}>
            Run {number}: {text === '' ? agent : text.slice(0, 80)}
          </option>
        ))}
      </select>
    </div>
  )
}

const views = new Map<string, View<Flow>>()

/** The flow of one run. Each run has one view, because the log keeps what it has folded for each view. */
function flowOfRun(run: string): View<Flow> {
  const known = views.get(run)
  if (known !== undefined) return known
  const made: View<Flow> = {
    ...flowView,
    name: `flow of ${run}`,
    apply: (state, row) => (row.run === run ? flowView.apply(state, row) : state),
  }
  views.set(run, made)
  return made
}
