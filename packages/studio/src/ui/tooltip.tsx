import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import './tooltip.css'

/**
 * A box beside an element. It is drawn in the body of the page, so that neither the zoom nor the edge of a panel changes
 * or cuts it, and it stays inside the window.
 */
export function Tooltip({
  anchor,
  id,
  children,
}: {
  readonly anchor: Element
  readonly id?: string
  readonly children: ReactNode
}) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const { left, width, top, bottom } = anchor.getBoundingClientRect()
    const { offsetWidth, offsetHeight } = element
    const x = Math.max(8, Math.min(left + width / 2 - offsetWidth / 2, innerWidth - offsetWidth - 8))
    const below = bottom + 6
    const y = below + offsetHeight > innerHeight - 8 ? Math.max(8, top - 6 - offsetHeight) : below
    element.style.translate = `${Math.round(x)}px ${Math.round(y)}px`
  })
  return createPortal(
    <div className="tooltip" role="tooltip" id={id} ref={box}>
      {children}
    </div>,
    document.body,
  )
}
