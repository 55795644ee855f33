import { preview, type SessionState, valueHistory } from '@millrace/core'
import { useMemo } from 'react'
import { goTo } from '../session/cursor.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { IconButton, Pill } from '../ui/controls.tsx'
import { eventNumber } from '../ui/event-number.ts'
import { writerOf } from './paths.ts'

interface HistoryProps {
  readonly state: SessionState
  readonly path: string
  readonly at: number | undefined
  readonly onClose: () => void
}

/** Every value that a key has had, with its writer and its event. */
export function History({ state, path, at, onClose }: HistoryProps) {
  const changes = useMemo(() => valueHistory(state, path), [state, path])
  return (
    <section className="panel-section history" data-testid="state-history">
      <h3>
        <span className="tree-key ellipsis">{path.slice(1)}</span>
        <Pill>{changes.length === 1 ? 'written once' : `written ${changes.length} times`}</Pill>
        <span className="spacer" />
        <IconButton icon="close" label="Close the history" onClick={onClose} />
      </h3>
      <ol>
        {changes.map(({ seq, after, ...change }) => (
          <li key={seq} className={at !== undefined && seq > at ? 'later' : ''}>
            <button type="button" onClick={() => goTo(seq)} title={`Go to event ${eventNumber(seq)}`}>
              <i style={{ background: agentColour(writerOf(change)) }} />
              <span className="number faint">#{seq}</span>
              <span className="who ellipsis">{writerOf(change)}</span>
              {after === undefined ? <del>removed</del> : <code className="ellipsis">{preview(after, 140)}</code>}
            </button>
          </li>
        ))}
      </ol>
    </section>
  )
}
