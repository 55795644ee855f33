import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'

interface TextBlockProps {
  /** The accessible name of the text. */
  readonly label: string
  readonly className?: string
  readonly children: ReactNode
}

/** Preformatted text. If it does not fit, it scrolls, also with the keyboard. */
export function TextBlock({ label, className, children }: TextBlockProps) {
  const block = useRef<HTMLPreElement>(null)
  const [scrolls, setScrolls] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other words may need more room
  useLayoutEffect(() => {
    const element = block.current
    if (element === null) return
    const measure = (): void =>
      setScrolls(element.scrollHeight > element.clientHeight || element.scrollWidth > element.clientWidth)
    const room = new ResizeObserver(measure)
    room.observe(element)
    measure()
    return () => room.disconnect()
  }, [children])
  // A group and no region: a landmark needs a name of its own, and a conversation has many of these.
  const reached = scrolls ? { role: 'group', 'aria-label': label, tabIndex: 0 } : {}
  return (
    <pre ref={block} className={className} {...reached}>
      {children}
    </pre>
  )
}
