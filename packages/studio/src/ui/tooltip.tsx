import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { createPortal } from 'react-dom'
import { tooltipLeft } from './tooltip-left.ts'
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
    const edges = anchor.getBoundingClientRect()
    const { top, bottom } = edges
    // A bar of a zoomed timeline may begin far outside the part that can be seen.
    const visible = anchor.closest('.tracks')?.getBoundingClientRect() ?? { left: 0, right: innerWidth }
    const { offsetWidth, offsetHeight } = element
    const x = tooltipLeft(edges, visible, offsetWidth, innerWidth)
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
