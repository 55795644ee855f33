import { type KeyboardEvent, type PointerEvent, useRef } from 'react'
import './splitter.css'

interface SplitterProps {
  readonly label: string
  readonly axis: 'x' | 'y'
  readonly value: number
  readonly min: number
  readonly max: number
  /** 1 when dragging right or down makes it larger, -1 otherwise. */
  readonly direction: 1 | -1
  readonly onChange: (value: number) => void
}

/** A bar that resizes a pane: drag it, or focus it and use the arrow keys. */
export function Splitter({ label, axis, value, min, max, direction, onChange }: SplitterProps) {
  const start = useRef({ at: 0, value: 0 })
  const place = (event: PointerEvent): number => (axis === 'x' ? event.clientX : event.clientY)
  const clamp = (next: number): number => Math.round(Math.min(max, Math.max(min, next)))
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    event.stopPropagation()
    onChange(clamp(value + step * direction * 24))
  }
  return (
    // Everything that can be reached is inside a landmark (axe: region). It is not a box of its own.
    <section className="splitter-place" aria-label={label}>
      {/* biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be a focusable, valued separator */}
      <div
        role="separator"
        tabIndex={0}
        className={`splitter ${axis}`}
        aria-label={label}
        aria-orientation={axis === 'x' ? 'vertical' : 'horizontal'}
        aria-valuenow={value}
        aria-valuemin={min}
        aria-valuemax={max}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          start.current = { at: place(event), value }
        }}
        onPointerMove={(event) => {
          if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
          onChange(clamp(start.current.value + (place(event) - start.current.at) * direction))
        }}
      />
    </section>
  )
}
