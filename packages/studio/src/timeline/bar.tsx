import type { Execution } from '@millrace/core'
import { agentColour } from '../ui/agent-colour.ts'
import { duration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'

export interface PlacedBar {
  readonly execution: Execution
  readonly row: number
  readonly left: number
  readonly right: number
  /** Free pixels behind it. */
  room: number
}

interface BarProps {
  readonly bar: PlacedBar
  readonly at: number | undefined
  readonly top: number
  readonly peek: {
    readonly over: (seq: number) => void
    readonly out: () => void
    readonly keep: (seq: number) => void
  }
}

const words = { running: 'running', ok: 'done', error: 'failed', interrupted: 'interrupted' } as const

/** One execution. Its moment is its end: with what it left behind. */
export function BarView({ bar, at, top, peek }: BarProps) {
  const { execution, left, right } = bar
  const { agent, node, status, startSeq, endSeq, superseded, error } = execution
  const moment = endSeq ?? startSeq
  const now = at !== undefined && startSeq <= at && (endSeq === undefined || at <= endSeq)
  const later = at !== undefined && startSeq > at
  const time = execution.duration === undefined ? '' : duration(execution.duration)
  const wide = right - left > 54
  const classes = ['bar', status, now ? 'now' : '', later ? 'later' : '', superseded === true ? 'lost' : '']
  return (
    <button
      type="button"
      className={classes.join(' ')}
      style={{ left, width: right - left, top, '--agent': agentColour(agent) } as React.CSSProperties}
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
