import { timelineView } from '@millrace/core'
import { useView } from '@millrace/react'
import { useMemo, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { Empty } from '../ui/controls.tsx'
import { layOut } from './lanes.ts'
import { timelineMarks } from './marks.ts'
import { scaleOf } from './scale.ts'
import { Transport } from './transport.tsx'
import { Waterfall } from './waterfall.tsx'
import './timeline.css'

/** Who ran when: the whole session at once, and the handle that moves every panel to one moment of it. */
export function TimelinePanel({ session, at }: PanelProps) {
  const { log } = session
  const { executions } = useView(log, timelineView)
  const flags = useView(log, timelineMarks)
  const count = useView(log, rowCount)
  const [zoom, setZoom] = useState(1)
  const picture = useMemo(() => layOut(executions.toArray()), [executions])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the scale grows with the rows, which the log keeps itself
  const scale = useMemo(() => scaleOf(log), [log, count])
  return (
    <div className="timeline" data-testid="timeline">
      <Transport log={log} at={at} zoom={zoom} onZoom={setZoom} />
      {picture.rows === 0 ? (
        <Empty icon="timeline" title="No steps yet">
          Every agent and graph step gets a bar here as soon as it starts.
        </Empty>
      ) : (
        <Waterfall picture={picture} scale={scale} marks={flags.list.toArray()} at={at} zoom={zoom} onZoom={setZoom} />
      )}
    </div>
  )
}

const rowCount = { name: 'row-count', initial: 0, apply: (count: number) => count + 1 }
