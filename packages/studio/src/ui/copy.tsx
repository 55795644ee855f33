import { useEffect, useState } from 'react'
import { IconButton } from './controls.tsx'

/** Copies a text and briefly shows that it was copied. */
export function CopyButton({ text, label }: { readonly text: string | (() => string); readonly label: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1200)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <IconButton
      icon={copied ? 'check' : 'copy'}
      label={copied ? 'Copied' : label}
      onClick={(event) => {
        event.stopPropagation()
        navigator.clipboard
          .writeText(typeof text === 'string' ? text : text())
          .then(() => setCopied(true))
          .catch(() => undefined)
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
