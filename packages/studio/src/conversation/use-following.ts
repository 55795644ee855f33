import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** So near the end counts as at the end. */
const near = 60

interface Following {
  readonly following: boolean
  /** The reader goes up to read. */
  leave(): void
  /** Back to the newest. */
  jump(): void
}

/** Holds on to the end while it moves, until the reader goes away from it; also when what is drawn changes its size. */
export function useFollowing(
  scroller: RefObject<HTMLDivElement | null>,
  at: number | undefined,
  content: unknown,
): Following {
  const [following, setFollowing] = useState(true)
  const held = useRef(true)
  const hold = useCallback((next: boolean): void => {
    held.current = next
    setFollowing(next)
  }, [])
  const toEnd = useCallback((): void => {
    const element = scroller.current
    if (element !== null) element.scrollTop = element.scrollHeight
  }, [scroller])
  const jump = useCallback(() => {
    hold(true)
    toEnd()
  }, [hold, toEnd])
  const leave = useCallback(() => {
    const element = scroller.current
    if (element !== null && element.scrollHeight > element.clientHeight) hold(false)
  }, [scroller, hold])
  useEffect(() => {
    const element = scroller.current
    const inner = element?.querySelector('.blocks')
    if (element === null || inner === null || inner === undefined) return
    let top = element.scrollTop
    const onScroll = (): void => {
      const atEnd = element.scrollHeight - element.clientHeight - element.scrollTop < near
      // Growth moves the end away without anybody scrolling: only going up lets go of it.
      if (atEnd ? element.scrollTop >= top : element.scrollTop < top - 1) {
        if (held.current !== atEnd) hold(atEnd)
      }
      top = element.scrollTop
    }
    const grown = new ResizeObserver(() => {
      if (held.current) toEnd()
    })
    grown.observe(inner)
    grown.observe(element)
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      grown.disconnect()
      element.removeEventListener('scroll', onScroll)
    }
  }, [scroller, hold, toEnd])
  // The newest row of a past moment is what that moment is about.
  // biome-ignore lint/correctness/useExhaustiveDependencies: wherever the cursor goes
  useLayoutEffect(() => hold(true), [at, hold])
  // biome-ignore lint/correctness/useExhaustiveDependencies: before it is painted, so that nothing jumps
  useLayoutEffect(() => {
    if (held.current) toEnd()
  }, [content, at, toEnd])
  return { following, leave, jump }
}
