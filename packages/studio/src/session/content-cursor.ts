import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

/** Milliseconds of one screen frame, and how many more go unnoticed. */
const frame = 17
const slack = 3
/** Idle milliseconds granted to the slider per millisecond of overrun. */
const idlePerOverrun = 11

/**
 * The cursor as the panels show it. If a moment is drawn within a frame, the panels follow the cursor frame by frame; if
 * it takes longer (a long session on a slow machine), they follow only as fast as keeps the slider itself smooth.
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
        setTimeout(next, over <= slack ? 0 : over * idlePerOverrun)
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
