import { type KeyboardEvent, useEffect, useRef } from 'react'

/** A name being changed: Enter keeps it, Esc leaves it, going elsewhere keeps it. */
export function Editable({
  value,
  label,
  onDone,
}: {
  readonly value: string
  readonly label: string
  /** Undefined when nothing is to change. */
  readonly onDone: (value: string | undefined) => void
}) {
  const field = useRef<HTMLInputElement>(null)
  const settled = useRef(false)
  useEffect(() => field.current?.select(), [])
  const finish = (next: string | undefined): void => {
    if (settled.current) return
    settled.current = true
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
