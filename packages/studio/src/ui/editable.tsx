import { type KeyboardEvent, useEffect, useRef } from 'react'

/** A field for changing a name. Enter or leaving the field saves it, Esc cancels. */
export function Editable({
  value,
  label,
  onDone,
}: {
  readonly value: string
  readonly label: string
  /** Called with the new value, or with undefined if nothing changes. */
  readonly onDone: (value: string | undefined) => void
}) {
  const field = useRef<HTMLInputElement>(null)
  const finished = useRef(false)
  useEffect(() => field.current?.select(), [])
  const finish = (next: string | undefined): void => {
    if (finished.current) return
    finished.current = true
    const text = next?.trim()
    onDone(text === undefined || text === '' || text === value ? undefined : text)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>): void => {
    event.stopPropagation()
    if (event.key === 'Enter') finish(event.currentTarget.value)
    if (event.key === 'Escape') finish(undefined)
  }
  return (
    <input
      ref={field}
      className="editable"
      aria-label={label}
      defaultValue={value}
      maxLength={200}
      onKeyDown={onKeyDown}
      onBlur={(event) => finish(event.currentTarget.value)}
    />
  )
}
