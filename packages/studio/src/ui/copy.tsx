import { useEffect, useState } from 'react'
import { IconButton } from './controls.tsx'
import { Icon } from './icon.tsx'

/** Copies a text to the clipboard; `copied` is true for a moment after it worked. */
export function useCopied(): { readonly copied: boolean; copy(text: string): void } {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1200)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = (text: string): void => {
    navigator.clipboard
      .writeText(text)
      .then(() => setCopied(true))
      .catch(() => undefined)
  }
  return { copied, copy }
}

/** Copies a text and briefly shows that it was copied. */
export function CopyButton({ text, label }: { readonly text: string | (() => string); readonly label: string }) {
  const { copied, copy } = useCopied()
  return (
    <IconButton
      icon={copied ? 'check' : 'copy'}
      label={copied ? 'Copied' : label}
      onClick={(event) => {
        event.stopPropagation()
        copy(typeof text === 'string' ? text : text())
      }}
    />
  )
}

/** The same with its label beside the icon, as one button. */
export function LabelledCopy({ label, text }: { readonly label: string; readonly text: () => string }) {
  const { copied, copy } = useCopied()
  const name = copied ? 'Copied' : `Copy ${label}`
  return (
    <button type="button" className="labelled-copy" title={name} aria-label={name} onClick={() => copy(text())}>
      <Icon name={copied ? 'check' : 'copy'} />
      {label}
    </button>
  )
}
