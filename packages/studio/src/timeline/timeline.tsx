import { timelineView } from '@millrace/core'
import { useView } from '@millrace/react'
import { useMemo, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { Empty } from '../ui/controls.tsx'
import { layOut } from './lanes.ts'
import { timelineMarksView } from './marks.ts'
import { scaleOf } from './scale.ts'
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
  const picture = useMemo(() => layOut(executions.toArray()), [executions])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the scale depends on the rows of the log, which change with `count`
  const scale = useMemo(() => scaleOf(log), [log, count])
  return (
    <div className="timeline" data-testid="timeline">
      <Transport log={log} at={at} zoom={zoom} onZoom={setZoom} />
      {picture.rows === 0 ? (
        <Empty icon="timeline" title="No steps yet">
          Every agent and graph step appears here as a bar as soon as it starts.
        </Empty>
      ) : (
        <Waterfall picture={picture} scale={scale} marks={flags.list.toArray()} at={at} zoom={zoom} onZoom={setZoom} />
      )}
    </div>
  )
}

const rowCountView = { name: 'row-count', initial: 0, apply: (count: number) => count + 1 }
