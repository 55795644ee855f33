import { type Host, type WebGlobals, webHost } from '@millrace/core'

/** What a page has and a server has not; read when it is needed, never on import, so that both can load this package. */
interface PageGlobals extends WebGlobals {
  requestAnimationFrame?(callback: () => void): unknown
}

/** Fetch, clock and timers of the page, or of Node: both have them by the same names. */
export function pageHost(): Host {
  return webHost(pageGlobals())
}

/** A hidden tab has no animation frames, yet must not fall behind for ever. Milliseconds. */
const longestFrame = 250

/** Calls back with the next animation frame; where none comes (a hidden tab, a server), a moment later. */
export function nextFrame(flush: () => void): void {
  const globals = pageGlobals()
  if (globals.requestAnimationFrame === undefined) {
    globals.setTimeout(flush, 16)
    return
  }
  let told = false
  const once = (): void => {
    if (told) return
    told = true
    globals.clearTimeout(timer as never)
    flush()
  }
  const timer = globals.setTimeout(once, longestFrame)
  globals.requestAnimationFrame(once)
}

function pageGlobals(): PageGlobals {
  return globalThis as unknown as PageGlobals
}
