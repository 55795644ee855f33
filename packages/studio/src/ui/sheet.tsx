import { type ReactNode, useEffect, useRef } from 'react'
import './sheet.css'

interface SheetProps {
  readonly open: boolean
  readonly onClose: () => void
  /** The name of its look, and its test id. */
  readonly className: string
  readonly testId: string
  /** What it is called: words, or the id of its title. */
  readonly label?: string
  readonly titleId?: string
  /** Whether a click beside it closes it; not where something was written that would be lost. */
  readonly closesOutside?: boolean
  /** A selector of what gets the focus, if not the first thing that can have it. */
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
