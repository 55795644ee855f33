import type { Message } from '@millrace/core'
import { type KeyboardEvent, useState } from 'react'
import { Button, IconButton } from '../ui/controls.tsx'
import { useActions } from './actions.ts'

/** A message of the user. Editing it creates a fork, because recorded events never change. */
export function UserMessage({ message }: { readonly message: Message }) {
  const { canRun } = useActions()
  const [editing, setEditing] = useState(false)
  return (
    <article className="message mine" data-testid={`message-${message.id}`}>
      <h2 className="visually-hidden">{message.author === 'user' ? 'You' : message.author}</h2>
      {editing ? (
        <EditForm message={message} onClose={() => setEditing(false)} />
      ) : (
        <>
          {canRun && (
            <IconButton
              icon="pencil"
              label="Edit and rerun in a fork"
              className="edit"
              onClick={() => setEditing(true)}
              data-testid="edit-message"
            />
          )}
          <p className="bubble">{message.text}</p>
        </>
      )}
    </article>
  )
}

function EditForm({ message, onClose }: { readonly message: Message; readonly onClose: () => void }) {
  const { edit, pending } = useActions()
  const [text, setText] = useState(message.text)
  const submit = (): void => {
    onClose()
    edit(message, text.trim())
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onClose()
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || text.trim() === '') return
    event.preventDefault()
    submit()
  }
  return (
    <div className="edit-form">
      <textarea
        aria-label="Edit the message"
        // biome-ignore lint/a11y/noAutofocus: the field replaces the button that was pressed
        autoFocus
        rows={Math.min(8, text.split('\n').length + 1)}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div>
        <Button onClick={onClose}>Cancel</Button>
        <Button tone="accent" icon="fork" disabled={pending || text.trim() === ''} onClick={submit}>
          Run in a fork
        </Button>
      </div>
    </div>
  )
}
