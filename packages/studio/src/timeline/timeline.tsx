import { type Sequence, timelineView } from '@millrace/core'
import { useView } from '@millrace/react'
import { useMemo, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { runsView } from '../session/runs.ts'
import { Empty } from '../ui/controls.tsx'
import { type CallSpan, callSpansView } from './calls.ts'
import { layOut } from './lanes.ts'
import { timelineMarksView } from './marks.ts'
import { scaleOf } from './scale.ts'
import { barsOfLog, type Span } from './spans.ts'
import { Transport } from './transport.tsx'
import { Waterfall } from './waterfall.tsx'
import './timeline.css'

/** The executions of the whole session over time, and the controls that move the cursor. */
export function TimelinePanel({ session, at }: PanelProps) {
  const { log } = session
  const { executions } = useView(log, timelineView)
  const flags = useView(log, timelineMarksView)
  const count = useView(log, rowCountView)
  const [zoom, setZoom] = useState(1)
  const runs = useView(log, runsView)
  const calls = useView(log, callSpansView, { select: listOf })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the scale depends on the rows of the log, which change with `count`
  const scale = useMemo(() => scaleOf(log), [log, count])
  const spans = useMemo(() => {
    const bars = barsOfLog(log, runs.toArray(), executions.toArray(), calls.toArray())
    return scale.ordinal ? bars.map(withoutZero) : bars
  }, [log, runs, executions, calls, scale.ordinal])
  const [detailed, setDetailed] = useState<boolean>()
  // A long list of lanes hides the steps, so that it begins without the calls.
  const all = useMemo(() => layOut(spans), [spans])
  const steps = useMemo(() => layOut(spans.filter(({ kind }) => kind === 'agent' || kind === 'run')), [spans])
  const withCalls = detailed ?? all.rows <= mostRows
  const picture = withCalls ? all : steps
  return (
    <div className="timeline" data-testid="timeline">
      <Transport log={log} at={at} zoom={zoom} onZoom={setZoom}>
        {all.rows > steps.rows && (
          <button
            type="button"
            className="latest-button calls-button"
            aria-pressed={withCalls}
            title="Show the calls of models and tools inside the steps"
            data-testid="timeline-calls"
            onClick={() => setDetailed(!withCalls)}
          >
            Calls
          </button>
        )}
      </Transport>
      {executions.length === 0 ? (
        <Empty icon="timeline" title="No steps yet">
          Every agent and graph step appears here as a bar as soon as it starts.
        </Empty>
      ) : (
        <Waterfall picture={picture} scale={scale} marks={flags.list.toArray()} at={at} zoom={zoom} onZoom={setZoom} />
      )}
    </div>
  )
}

const mostRows = 24

/** Rows without times are 0 ms apart, which nobody measured. A wire may tell how long a step took nevertheless. */
const withoutZero = ({ duration, ...span }: Span): Span =>
  duration === undefined || duration === 0 ? span : { ...span, duration }

const listOf = ({ list }: { readonly list: Sequence<CallSpan> }): Sequence<CallSpan> => list

const rowCountView = { name: 'row-count', initial: 0, apply: (count: number) => count + 1 }
