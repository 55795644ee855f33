import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { CursorFollower } from './cursor-follower.ts'

/**
 * The cursor as the panels show it. If a moment is drawn within a frame, the panels follow the cursor frame by frame; if
 * it takes longer (a long session on a slow machine), they follow only as fast as keeps the slider itself smooth.
 */
export function useContentCursor(at: number | undefined): number | undefined {
  const [shown, setShown] = useState(at)
  const [follower] = useState(
    () =>
      new CursorFollower(at, {
        draw: (moment) => flushSync(() => setShown(moment)),
        now: () => performance.now(),
        // React cannot draw synchronously inside an effect.
        soon: (action) => queueMicrotask(action),
        later: (milliseconds, action) => {
          const timer = setTimeout(action, milliseconds)
          return () => clearTimeout(timer)
        },
        afterPaint: (action) => requestAnimationFrame(() => setTimeout(action, 0)),
      }),
  )
  useEffect(() => follower.want(at), [follower, at])
  useEffect(() => () => follower.rest(), [follower])
  return shown
}
