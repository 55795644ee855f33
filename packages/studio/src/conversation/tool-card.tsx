import type { ToolCard as Card } from '@millrace/core'
import { resultTarget } from '../change/draft.ts'
import { useLit } from '../session/lit.ts'
import { callKey } from '../step/steps.ts'
import { Pill } from '../ui/controls.tsx'
import { duration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import { wordTones } from '../ui/state-word.ts'
import { TextBlock } from '../ui/text-block.tsx'
import { useActions } from './actions.ts'

const words = { pending: 'running', ok: 'done', error: 'failed', cut: 'cut off' } as const

/** A tool call: name and status in one line; arguments and result when it is opened. */
export function ToolCardRow({ card, run }: { readonly card: Card; readonly run: string }) {
  const { working, rejected, callTimes, change, goTo, openStep } = useActions()
  const isLit = useLit(({ calls }) => calls.has(card.call))
  const no = card.status === 'error' && rejected.has(card.call)
  const waiting = card.status === 'pending' && (card.longRunning === true || !working)
  const args = card.args === undefined ? '' : brief(card.args)
  const word = waiting ? 'waiting' : words[card.status]
  // A result that answers no call may name only the call's id.
  const name = card.name === '' ? 'unknown tool' : card.name
  const outcome = no ? 'Answer' : card.error === undefined ? 'Result' : 'Error'
  // The time until a person said no is not the tool's time, and a call that is still running has no duration yet.
  // Nobody measured the 0 ms between two events of a recording without times.
  const measured = callTimes.get(card.call) ?? (card.duration === 0 ? undefined : card.duration)
  const took = no || card.status === 'pending' ? undefined : measured
  return (
    <details
      className={`tool ${no ? 'rejected' : card.status}${isLit ? ' lit' : ''}`}
      data-testid="status-function-call"
    >
      <summary>
        <Icon name="tool" />
        <span className={`tool-name ${card.name === '' ? 'unnamed' : ''}`} title={name}>
          {name}
        </span>
        <span className="tool-args ellipsis" title={args}>
          {args}
        </span>
        {took !== undefined && <span className="number faint">{duration(took)}</span>}
        {no ? <Pill>rejected</Pill> : <Pill tone={wordTones[word]}>{word}</Pill>}
      </summary>
      <div className="tool-body">
        <p className="tool-label">Arguments</p>
        <TextBlock label={`Arguments of ${name}`}>{JSON.stringify(card.args ?? {}, null, 2)}</TextBlock>
        {(card.result !== undefined || card.error !== undefined) && (
          <>
            <p className="tool-label">{outcome}</p>
            <TextBlock label={`${outcome} of ${name}`}>{card.error ?? JSON.stringify(card.result, null, 2)}</TextBlock>
          </>
        )}
        <button type="button" className="link" onClick={() => goTo(card.endSeq ?? card.seq)}>
          Go to this moment
        </button>{' '}
        <button
          type="button"
          className="link"
          data-testid="open-step"
          onClick={() => openStep(card.endSeq ?? card.seq, callKey(run, card.call))}
        >
          Open the step
        </button>
        {change !== undefined && card.result !== undefined && card.call !== '' && (
          <>
            {' '}
            <button
              type="button"
              className="link"
              data-testid="edit-result"
              onClick={() => change(resultTarget(card, run))}
            >
              Edit and run on
            </button>
          </>
        )}
      </div>
    </details>
  )
}

function brief(args: object): string {
  return Object.entries(args)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
