import type { ToolCard as Card } from '@millrace/core'
import { goTo } from '../session/cursor.ts'
import { openStep } from '../step/open-step.ts'
import { callKey } from '../step/steps.ts'
import { Pill } from '../ui/controls.tsx'
import { duration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import { useActions } from './actions.ts'

const tones = { pending: 'accent', ok: 'ok', error: 'bad', cut: 'warn' } as const
const words = { pending: 'running', ok: 'done', error: 'failed', cut: 'cut off' } as const

/** A tool call: name and status in one line; arguments and result when it is opened. */
export function ToolCardRow({ card, run }: { readonly card: Card; readonly run: string }) {
  const { working } = useActions()
  const waiting = card.status === 'pending' && (card.longRunning === true || !working)
  return (
    <details className={`tool ${card.status}`} data-testid="status-function-call">
      <summary>
        <Icon name="tool" />
        <span className="tool-name">{card.name}</span>
        <span className="tool-args ellipsis">{card.args === undefined ? '' : brief(card.args)}</span>
        {card.duration !== undefined && <span className="number faint">{duration(card.duration)}</span>}
        <Pill tone={waiting ? 'warn' : tones[card.status]}>{waiting ? 'waiting' : words[card.status]}</Pill>
      </summary>
      <div className="tool-body">
        <h4>Arguments</h4>
        <pre>{JSON.stringify(card.args ?? {}, null, 2)}</pre>
        {(card.result !== undefined || card.error !== undefined) && (
          <>
            <h4>{card.error === undefined ? 'Result' : 'Error'}</h4>
            <pre>{card.error ?? JSON.stringify(card.result, null, 2)}</pre>
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
      </div>
    </details>
  )
}

function brief(args: object): string {
  return Object.entries(args)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
