export type InView = Range | HTMLElement

/** Scrolls so that the target is in the middle, unless all of it is in sight already. Says whether it has scrolled. */
function bringIntoView(scroller: HTMLElement, target: InView): boolean {
  const [outer, inner] = [scroller.getBoundingClientRect(), target.getBoundingClientRect()]
  if (inner.top >= outer.top + 40 && inner.bottom <= outer.bottom - 40) return false
  const isTall = inner.height > outer.height / 2
  const before = scroller.scrollTop
  scroller.scrollTop += inner.top - outer.top - (isTall ? 48 : outer.height / 2)
  return Math.abs(scroller.scrollTop - before) > 1
}

/** Frames without movement after which the target has settled: rows above it may still be measured. */
const settling = 10
/** Frames after which to give up on a list that never settles. */
const most = 600

/**
 * Brings the target into view, and again while the rows around it get their real heights. A row that is scrolled away
 * meanwhile is drawn anew, so the target is looked up in each frame. Call the result to stop.
 */
export function settleInView(scroller: HTMLElement, find: () => InView | undefined): () => void {
  let calm = 0
  let frames = 0
  return inEachFrame(scroller, () => {
    const target = find()
    calm = target === undefined || !isDrawn(target) || bringIntoView(scroller, target) ? 0 : calm + 1
    frames += 1
    return calm < settling && frames < most
  })
}

/** Calls `step` now and in each frame, as long as it returns true and the user does not scroll. Call the result to stop. */
export function inEachFrame(scroller: HTMLElement, step: () => boolean): () => void {
  let frame = 0
  const go = (): void => {
    if (step()) frame = requestAnimationFrame(go)
  }
  go()
  const stop = (): void => cancelAnimationFrame(frame)
  scroller.addEventListener('wheel', stop, { once: true, passive: true })
  return () => {
    stop()
    scroller.removeEventListener('wheel', stop)
  }
}

function isDrawn(target: InView): boolean {
  return target instanceof Range ? target.startContainer.isConnected : target.isConnected
}
