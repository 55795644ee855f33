import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from '../ui/controls.tsx'
import './composer.css'

interface ComposerProps {
  readonly running: boolean
  readonly pending: boolean
  readonly disabled?: boolean
  readonly placeholder: string
  readonly onSend: (text: string) => void
  readonly onStop: () => void
  readonly autoFocus?: boolean
  /** Shown beside the button: the agent picker or a hint. */
  readonly children?: ReactNode
}

/** The message field. Enter sends, Shift+Enter adds a new line; while the agent works, the button stops it. */
export function Composer(props: ComposerProps) {
  const { running, pending, disabled = false, placeholder, onSend, onStop, autoFocus = false, children } = props
  const [text, setText] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    // Not on a phone, which would open its keyboard over the page.
    if (autoFocus && !disabled && matchMedia('(hover: hover)').matches) field.current?.focus()
  }, [autoFocus, disabled])
  const send = (): void => {
    const message = text.trim()
    if (message === '' || running || pending || disabled) return
    onSend(message)
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === 'Escape') event.currentTarget.blur()
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <div className="composer">
      <div className="composer-field" data-text={text}>
        <textarea
          id="message"
          ref={field}
          rows={1}
          value={text}
          disabled={disabled}
          placeholder={placeholder}
          aria-label="Message"
          data-testid="chat-input"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className="composer-foot">
        <div className="composer-aside">{children}</div>
        {running ? (
          <Button icon="stop" disabled={pending} onClick={onStop} data-testid="stop-button">
            Stop
          </Button>
        ) : (
          <Button
            tone="accent"
            icon="send"
            disabled={pending || disabled || text.trim() === ''}
            onClick={send}
            data-testid="send-button"
          >
            Send
          </Button>
        )}
      </div>
    </div>
  )
}
