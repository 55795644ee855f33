import { useEffect, useState } from 'react'
import { IconButton } from './controls.tsx'

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

/** The same with its label beside it. */
export function LabelledCopy({ label, text }: { readonly label: string; readonly text: () => string }) {
  return (
    <span className="labelled-copy">
      <CopyButton text={text} label={`Copy ${label}`} />
      <span className="faint">{label}</span>
    </span>
  )
}
