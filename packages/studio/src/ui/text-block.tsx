import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'

interface TextBlockProps {
  /** What the text is, for a screen reader that comes to it. */
  readonly label: string
  readonly className?: string
  readonly children: ReactNode
}

/** Preformatted text. Where it is too long for its room it scrolls, and the keyboard can scroll it too. */
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
