import { type ReactNode, useEffect, useRef } from 'react'
import './sheet.css'

interface SheetProps {
  readonly open: boolean
  readonly onClose: () => void
  /** The CSS class. */
  readonly className: string
  readonly testId: string
  /** The accessible name: a text, or the id of the title. */
  readonly label?: string
  readonly titleId?: string
  /** Whether a click outside closes it; false where written text would be lost. */
  readonly closesOutside?: boolean
  /** A selector for the element that gets the focus, if not the first focusable one. */
  readonly focus?: string
  readonly children: ReactNode
}

/** A modal dialog above the page. Esc closes it. */
export function Sheet({ open, onClose, className, testId, label, titleId, focus, ...props }: SheetProps) {
  const { closesOutside = true, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (!open) return dialog.current?.close()
    dialog.current?.showModal()
    if (focus !== undefined) dialog.current?.querySelector<HTMLElement>(focus)?.focus()
  }, [open, focus])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes a dialog by itself
    <dialog
      ref={dialog}
      className={`sheet ${className}`}
      aria-label={label}
      aria-labelledby={titleId}
      data-testid={testId}
      onClose={onClose}
      onClick={(event) => closesOutside && event.target === event.currentTarget && onClose()}
    >
      {children}
    </dialog>
  )
}
