import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { usePressed } from '../ui/pressed.ts'

/** Pixels from the bottom that still count as the bottom. */
const near = 60

interface Following {
  readonly following: boolean
  /** How far the reader was above the end when following stopped, in pixels. */
  readonly away: RefObject<number>
  /** Stops following, because the reader scrolls up. */
  leave(): void
  /** Scrolls to the newest row and follows again. */
  jump(): void
}

/**
 * Keeps the scroll position at the bottom while the content grows or changes its size, until the reader scrolls up.
 * While a search shows a place, arriving at the bottom does not start it again: the place may be there.
 */
export function useFollowing(
  scroller: RefObject<HTMLDivElement | null>,
  at: number | undefined,
  content: unknown,
  searching: RefObject<boolean>,
): Following {
  const [following, setFollowing] = useState(true)
  const held = useRef(true)
  const away = useRef(0)
  const hold = useCallback((next: boolean): void => {
    held.current = next
    setFollowing(next)
  }, [])
  const toEnd = useCallback((): void => {
    const element = scroller.current
    if (element !== null) element.scrollTop = element.scrollHeight
  }, [scroller])
  const pressed = usePressed(scroller, () => held.current && toEnd())
  const jump = useCallback(() => {
    hold(true)
    toEnd()
  }, [hold, toEnd])
  const leave = useCallback(() => {
    const element = scroller.current
    if (element === null || element.scrollHeight <= element.clientHeight) return
    if (held.current) away.current = 0
    hold(false)
  }, [scroller, hold])
  useEffect(() => {
    const element = scroller.current
    const inner = element?.querySelector('.blocks')
    if (element === null || inner === null || inner === undefined) return
    let top = element.scrollTop
    const onScroll = (): void => {
      const atEnd = element.scrollHeight - element.clientHeight - element.scrollTop < near
      // New content moves the bottom away without any scrolling, so only scrolling up stops following.
      if (atEnd ? element.scrollTop >= top : element.scrollTop < top - 1) {
        if (held.current !== atEnd && !(atEnd && searching.current)) {
          away.current = element.scrollHeight - element.clientHeight - element.scrollTop
          hold(atEnd)
        }
      }
      top = element.scrollTop
    }
    const grown = new ResizeObserver(() => {
      if (held.current && !pressed.current) toEnd()
    })
    grown.observe(inner)
    grown.observe(element)
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      grown.disconnect()
      element.removeEventListener('scroll', onScroll)
    }
  }, [scroller, searching, hold, toEnd, pressed])
  // The newest row at the cursor is the one that the reader wants to see.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs whenever the cursor moves
  useLayoutEffect(() => hold(true), [at, hold])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs before each paint, so that nothing jumps
  useLayoutEffect(() => {
    if (held.current && !pressed.current) toEnd()
  }, [content, at, toEnd])
  return { following, away, leave, jump }
}
