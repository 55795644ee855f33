import type { Message } from '@millrace/core'
import { IconButton } from '../ui/controls.tsx'
import { useActions } from './actions.ts'

/** A message of the user. A changed one runs in a new session, because recorded events never change. */
export function UserMessage({ message }: { readonly message: Message }) {
  const { canRun, change } = useActions()
  const { run, text } = message
  return (
    <article className="message mine" data-testid={`message-${message.id}`}>
      <h2 className="visually-hidden">{message.author === 'user' ? 'You' : message.author}</h2>
      {canRun && change !== undefined && (
        <IconButton
          icon="pencil"
          label="Edit and run on"
          className="edit"
          onClick={() => change({ field: 'message', run, text })}
          data-testid="edit-message"
        />
      )}
      <p className="bubble">{text}</p>
    </article>
  )
}
