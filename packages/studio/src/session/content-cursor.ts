import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

/** Drawing a moment may take this part of the time: the rest is for the hand that moves the cursor. */
const share = 1 / 6

/**
 * The cursor as the panels show it. Where a moment is drawn within a frame, they follow the cursor frame by frame; where
 * it takes longer (a long session on a slow machine), they follow as fast as leaves the handle itself smooth.
 */
export function useContentCursor(at: number | undefined): number | undefined {
  const [shown, setShown] = useState(at)
  const wanted = useRef(at)
  const pace = useRef({ busyUntil: 0, pending: false })
  wanted.current = at
  useEffect(() => {
    const { current } = pace
    if (at === shown || current.pending) return
    const draw = (): void => {
      current.pending = false
      const begun = performance.now()
      flushSync(() => setShown(wanted.current))
      const took = performance.now() - begun
      // What fits into a frame beside everything else delays nothing.
      current.busyUntil = took < 6 ? 0 : performance.now() + took * (1 / share - 1)
    }
    current.pending = true
    const wait = current.busyUntil - performance.now()
    if (wait <= 0) queueMicrotask(draw)
    else setTimeout(draw, wait)
  }, [at, shown])
  return shown
}
