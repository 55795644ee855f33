import { type Host, type WebGlobals, webHost } from '@millrace/core'

/** Globals of a page that a server lacks. They are read on use, never on import, so both can load this package. */
interface PageGlobals extends WebGlobals {
  requestAnimationFrame?(callback: () => void): unknown
}

/** Fetch, clock and timers of the page or of Node, which use the same names. */
export function pageHost(): Host {
  return webHost(pageGlobals())
}

/** A hidden tab gets no animation frames; the flush happens after this many milliseconds at the latest. */
const longestFrame = 250

/** Calls `flush` on the next animation frame, or after a short timeout where there is none (a hidden tab, a server). */
export function nextFrame(flush: () => void): void {
  const globals = pageGlobals()
  if (globals.requestAnimationFrame === undefined) {
    globals.setTimeout(flush, 16)
    return
  }
  let flushed = false
  const once = (): void => {
    if (flushed) return
    flushed = true
    globals.clearTimeout(timer as never)
    flush()
  }
  const timer = globals.setTimeout(once, longestFrame)
  globals.requestAnimationFrame(once)
}

function pageGlobals(): PageGlobals {
  return globalThis as unknown as PageGlobals
}
