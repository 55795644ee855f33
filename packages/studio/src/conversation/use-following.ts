import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { usePressed } from '../ui/pressed.ts'

/** Pixels from the bottom that still count as the bottom. */
const near = 60

interface Following {
  readonly following: boolean
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
  /** Where the list was when it was last looked at. */
  const top = useRef(0)
  const hold = useCallback((next: boolean): void => {
    held.current = next
    setFollowing(next)
  }, [])
  const look = useCallback((): void => {
    const element = scroller.current
    if (element === null) return
    const atEnd = element.scrollHeight - element.clientHeight - element.scrollTop < near
    // New content moves the bottom away without any scrolling, so only scrolling up stops following.
    if (atEnd ? element.scrollTop >= top.current : element.scrollTop < top.current - 1) {
      if (held.current !== atEnd && !(atEnd && searching.current)) hold(atEnd)
    }
    top.current = element.scrollTop
  }, [scroller, searching, hold])
  const toEnd = useCallback((): void => {
    const element = scroller.current
    if (element === null) return
    element.scrollTop = element.scrollHeight
    top.current = element.scrollTop
  }, [scroller])
  const goOn = useCallback((): void => {
    // The event of a scroll comes with the next frame. Content that is drawn before it must not undo the scroll.
    if (held.current) look()
    if (held.current) toEnd()
  }, [look, toEnd])
  const pressed = usePressed(scroller, goOn)
  const follow = useCallback((): void => {
    if (!pressed.current) goOn()
  }, [goOn, pressed])
  const jump = useCallback(() => {
    hold(true)
    toEnd()
  }, [hold, toEnd])
  const leave = useCallback(() => {
    const element = scroller.current
    if (element === null || element.scrollHeight <= element.clientHeight) return
    hold(false)
  }, [scroller, hold])
  useEffect(() => {
    const element = scroller.current
    const inner = element?.querySelector('.blocks')
    if (element === null || inner === null || inner === undefined) return
    const grown = new ResizeObserver(follow)
    grown.observe(inner)
    grown.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      grown.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [scroller, look, follow])
  // The newest row at the cursor is the one that the reader wants to see.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs whenever the cursor moves
  useLayoutEffect(() => {
    hold(true)
    top.current = scroller.current?.scrollTop ?? 0
  }, [at, hold])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs before each paint, so that nothing jumps
  useLayoutEffect(follow, [content, at, follow])
  return { following, leave, jump }
}
