import type { SessionInfo } from '@millrace/core'

const words: Readonly<Record<SessionInfo['status'], string>> = {
  idle: 'not started',
  running: 'running',
  done: 'done',
  failed: 'failed',
  cancelled: 'stopped',
  interrupted: 'waiting for an answer',
}

/** The status of a session as a coloured dot, with a text for screen readers. */
export function StatusDot({ status }: { readonly status: SessionInfo['status'] }) {
  return (
    <span className={`dot ${status}`} title={words[status]}>
      <span className="visually-hidden">{words[status]}</span>
    </span>
  )
}
