import { openStep } from '../step/open-step.ts'
import { nodeKey } from '../step/steps.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { duration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import type { PlacedBar } from './place.ts'

/** Shows the moment of a bar while the pointer rests on it. */
export interface Peek {
  readonly enter: (seq: number) => void
  readonly leave: () => void
  readonly select: (seq: number) => void
}

interface BarProps {
  readonly bar: PlacedBar
  readonly top: number
  readonly peek: Peek
}

const words = { running: 'running', ok: 'done', error: 'failed', interrupted: 'interrupted' } as const

/** One execution. Selecting it goes to its end, where the panels show its results. */
export function BarView({ bar, top, peek }: BarProps) {
  const { execution, left, right } = bar
  const { agent, node, status, startSeq, endSeq, superseded, error } = execution
  const style = { left, width: right - left, top, '--agent': agentColour(agent) } as React.CSSProperties
  if (bar.count > 1) return <Band bar={bar} style={style} />
  const moment = endSeq ?? startSeq
  const time = execution.duration === undefined ? '' : duration(execution.duration)
  const wide = right - left > 54
  return (
    <button
      type="button"
      className={`bar ${status} ${superseded === true ? 'lost' : ''}`}
      style={style}
      title={[`${node}: ${words[status]}`, time, error?.message]
        .filter((text) => text !== undefined && text !== '')
        .join(' · ')}
      aria-label={`${agent}, ${words[status]}${time === '' ? '' : `, ${time}`}, events ${startSeq} to ${endSeq ?? 'now'}`}
      onPointerMove={(event) => event.pointerType === 'mouse' && peek.enter(moment)}
      onPointerLeave={peek.leave}
      onClick={() => {
        peek.select(moment)
        openStep(moment, nodeKey(execution))
      }}
    >
      {status === 'error' && <Icon name="problems" size={12} />}
      {status === 'interrupted' && <Icon name="question" size={12} />}
      {time !== '' && (wide || bar.room > 56) && (
        <span className={`bar-time number ${wide ? '' : 'outside'}`}>{time}</span>
      )}
    </button>
  )
}

/** Many executions on few pixels. A click goes to the moment under the pointer, as on the empty track. */
function Band({ bar, style }: { readonly bar: PlacedBar; readonly style: React.CSSProperties }) {
  const { execution, last, count, left, right } = bar
  return (
    <div
      className={`bar band ${execution.status}`}
      style={style}
      title={`${execution.agent}, ${count} executions, events ${execution.startSeq} to ${last.endSeq ?? 'now'}. Zoom in to see each one.`}
    >
      {right - left > 54 && <span className="bar-time number">{count}×</span>}
    </div>
  )
}
