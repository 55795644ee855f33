import { type SessionInfo, sessionWord } from '@millrace/core'

/** The status of a session as a coloured dot, with a text for screen readers. */
export function StatusDot({ info }: { readonly info: Pick<SessionInfo, 'status' | 'cutOff'> }) {
  const word = sessionWord(info)
  return (
    <span className={`dot ${word.replace(' ', '-')}`} title={word}>
      <span className="visually-hidden">{word}</span>
    </span>
  )
}
