import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

/** A frame of a screen, and what may come on top of it before it is noticed. */
const frame = 17
const slack = 3
/** For each millisecond that a moment took too long, the handle has so many of its own. */
const rest = 11

/**
 * The cursor as the panels show it. Where a moment is drawn within a frame, they follow the cursor frame by frame; where
 * it takes longer (a long session on a slow machine), they follow as fast as leaves the handle itself smooth.
 */
export function useContentCursor(at: number | undefined): number | undefined {
  const [shown, setShown] = useState(at)
  const wanted = useRef(at)
  const drawn = useRef(at)
  const busy = useRef(false)
  wanted.current = at
  useEffect(() => {
    const draw = (): void => {
      const begun = performance.now()
      drawn.current = wanted.current
      flushSync(() => setShown(wanted.current))
      afterPaint(() => {
        const over = performance.now() - begun - frame
        setTimeout(next, over <= slack ? 0 : over * rest)
      })
    }
    const next = (): void => {
      busy.current = drawn.current !== wanted.current
      if (busy.current) draw()
    }
    if (busy.current || drawn.current === at) return
    busy.current = true
    queueMicrotask(draw)
  }, [at])
  return shown
}

function afterPaint(callback: () => void): void {
  requestAnimationFrame(() => setTimeout(callback, 0))
}
