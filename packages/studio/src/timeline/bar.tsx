import { callCost, costText } from '@millrace/core'
import { memo, useState } from 'react'
import { usePlayer } from '../session/play.ts'
import { openStep } from '../step/open-step.ts'
import { callKey, nodeKey } from '../step/steps.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { duration } from '../ui/duration.ts'
import { eventNumber } from '../ui/event-number.ts'
import { Icon } from '../ui/icon.tsx'
import { Time } from '../ui/time.tsx'
import { Tooltip } from '../ui/tooltip.tsx'
import { usePrices } from '../usage/prices.ts'
import type { PlacedBar } from './place.ts'
import type { Span } from './spans.ts'

interface BarProps {
  readonly bar: PlacedBar
  readonly top: number
}

/** One span. Selecting it goes to its end, where the panels show its results. Pointing at it only explains it. */
export const BarView = memo(function BarView({ bar, top }: BarProps) {
  const { span, left, right } = bar
  const [anchor, setAnchor] = useState<Element>()
  const style = { left, width: right - left, top, '--agent': agentColour(span.agent) } as React.CSSProperties
  if (bar.count > 1) return <Band bar={bar} style={style} />
  const { kind, name, number, word, startSeq, endSeq, superseded, critical } = span
  const time = span.duration === undefined ? '' : duration(span.duration)
  const wide = right - left > 54
  const roomy = isRoomy(bar)
  const several = number !== undefined && number !== '1' && kind === 'agent'
  return (
    <button
      type="button"
      className={`bar of-${kind} ${roomy ? 'roomy' : ''} ${word.replace(' ', '-')} ${superseded === true ? 'lost' : ''} ${critical === true ? 'critical' : ''}`}
      style={style}
      data-testid={`bar-${kind}`}
      aria-label={`${name}, ${word}${time === '' ? '' : `, ${time}`}, ${eventsText(startSeq, endSeq)}`}
      onPointerEnter={(event) => setAnchor(event.currentTarget)}
      onPointerLeave={() => setAnchor(undefined)}
      onFocus={(event) => event.currentTarget.matches(':focus-visible') && setAnchor(event.currentTarget)}
      onBlur={() => setAnchor(undefined)}
      onClick={() => {
        usePlayer.setState({ playing: false })
        openStep(span.recordSeq ?? endSeq ?? startSeq, stepKeyOf(span))
      }}
    >
      {bar.first !== undefined && <i className="first-token" style={{ left: bar.first }} />}
      {word === 'failed' && (roomy || bar.room > 12) && <Icon name="problems" size={12} />}
      {(word === 'waiting' || word === 'cut off') && roomy && <Icon name="question" size={12} />}
      {time !== '' && (wide || bar.room > 56) && (
        <span className={`bar-time number ${wide ? '' : 'outside'}`}>
          {several && wide ? `${number} · ` : ''}
          {time}
        </span>
      )}
      {anchor !== undefined && (
        <Tooltip anchor={anchor}>
          <SpanFacts span={span} />
        </Tooltip>
      )}
    </button>
  )
})

/** Padding would make a narrow bar wider than its place, so that it covers the one beside it. */
function isRoomy({ left, right }: PlacedBar): boolean {
  return right - left > 24
}

/** Several calls may be open at the end of one: the bar names the one that it shows. */
function stepKeyOf(span: Span): string | undefined {
  if (span.kind === 'agent') return nodeKey(span)
  return span.call === undefined ? undefined : callKey(span.run, span.call)
}

const eventsText = (startSeq: number, endSeq: number | undefined): string =>
  `events ${eventNumber(startSeq)} to ${endSeq === undefined ? 'now' : eventNumber(endSeq)}`

const whole = new Intl.NumberFormat('en')
const kinds = { run: 'run', agent: 'step', model: 'model call', tool: 'tool call' } as const

function SpanFacts({ span }: { readonly span: Span }) {
  const { kind, name, number, word, agent, duration: took, firstAfter, critical, error, startedAt, usage } = span
  const prices = usePrices()
  const cost = kind === 'model' ? callCost({ ...span, kind }, prices) : undefined
  const facts = [
    [kinds[kind], kind === 'model' || kind === 'tool' ? `by ${agent}` : number === undefined ? '' : `number ${number}`],
    ['state', word],
    ['took', took === undefined ? '' : duration(took)],
    ['first token', firstAfter === undefined ? '' : `after ${duration(firstAfter)}`],
    ['measured', span.remote === true ? 'on arrival: another server made this call' : ''],
    ['tokens', usage?.totalTokens === undefined ? '' : whole.format(usage.totalTokens)],
    ['cost', cost === undefined ? '' : costText(cost)],
    ['critical path', critical === true ? 'yes: the run waited for it' : ''],
    ['error', error ?? ''],
  ] as const
  return (
    <>
      <b>{name}</b>
      {startedAt > 0 && (
        <span className="fact">
          <span className="faint">began</span> <Time at={startedAt} precise />
        </span>
      )}
      {facts.map(([fact, value]) =>
        value === '' ? null : (
          <span key={fact} className="fact">
            <span className="faint">{fact}</span> {value}
          </span>
        ),
      )}
    </>
  )
}

/** Many executions on few pixels. A click goes to the moment under the pointer, as on the empty track. */
function Band({ bar, style }: { readonly bar: PlacedBar; readonly style: React.CSSProperties }) {
  const { span, word, last, count, left, right } = bar
  return (
    <div
      className={`bar band ${isRoomy(bar) ? 'roomy' : ''} of-${span.kind} ${word.replace(' ', '-')}`}
      style={style}
      title={`${span.name}, ${count} times, ${eventsText(span.startSeq, last.endSeq)}. Zoom in to see each one.`}
    >
      {right - left > 54 && <span className="bar-time number">{count}×</span>}
    </div>
  )
}
