import type { SessionInfo } from '@millrace/core'
import { runWord } from '../ui/state-word.ts'

/** The status of a session as a coloured dot, with a text for screen readers. */
export function StatusDot({ status }: { readonly status: SessionInfo['status'] }) {
  return (
    <span className={`dot ${status}`} title={runWord(status)}>
      <span className="visually-hidden">{runWord(status)}</span>
    </span>
  )
}
