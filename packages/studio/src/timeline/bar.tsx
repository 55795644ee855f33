import { agentColour } from '../ui/agent-colour.ts'
import { duration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import type { PlacedBar } from './place.ts'

export interface Peek {
  readonly over: (seq: number) => void
  readonly out: () => void
  readonly keep: (seq: number) => void
}

interface BarProps {
  readonly bar: PlacedBar
  readonly top: number
  readonly peek: Peek
}

const words = { running: 'running', ok: 'done', error: 'failed', interrupted: 'interrupted' } as const

/** One execution. Its moment is its end: with what it left behind. */
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
      onPointerMove={(event) => event.pointerType === 'mouse' && peek.over(moment)}
      onPointerLeave={peek.out}
      onClick={() => peek.keep(moment)}
    >
      {status === 'error' && <Icon name="problems" size={12} />}
      {status === 'interrupted' && <Icon name="question" size={12} />}
      {time !== '' && (wide || bar.room > 56) && (
        <span className={`bar-time number ${wide ? '' : 'outside'}`}>{time}</span>
      )}
    </button>
  )
}

/** Many executions on few pixels: pressing it goes to the moment under the pointer, as the empty track does. */
function Band({ bar, style }: { readonly bar: PlacedBar; readonly style: React.CSSProperties }) {
  const { execution, last, count, left, right } = bar
  return (
    <div
      className={`bar band ${execution.status}`}
      style={style}
      title={`${count} times ${execution.agent}, events ${execution.startSeq} to ${last.endSeq ?? 'now'}. Zoom in to tell them apart.`}
    >
      {right - left > 54 && <span className="bar-time number">{count}×</span>}
    </div>
  )
}
