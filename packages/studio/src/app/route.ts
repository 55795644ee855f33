import { useSyncExternalStore } from 'react'

/** The location of the page: session, moment and open panel. It is stored in the address bar. */
export interface Route {
  readonly session: string | undefined
  /** The shared cursor: the seq that every panel shows; undefined is the latest. */
  readonly at: number | undefined
  readonly panel: string
  /** The sessions or runs to compare (`compare/sides.ts`); a single session is compared with the open one. */
  readonly compare: string | undefined
  /** The agent that a link chose for the next session, until another one is chosen on the page. */
  readonly agent: string | undefined
  /** The address is none of this page. */
  readonly unknown: boolean
}

const listeners = new Set<() => void>()

/** The address of the page's root, including any path prefix: the server writes it into `<base href>`. */
export const root: string = new URL('.', document.baseURI).href

let current = readRoute()

function readRoute(): Route {
  const base = new URL(root).pathname
  const { pathname, searchParams } = new URL(location.href)
  const session = pathname.startsWith(`${base}s/`) ? decodeURIComponent(pathname.slice(base.length + 2)) : ''
  const at = Number(searchParams.get('at'))
  return {
    session: session === '' ? undefined : session,
    at: Number.isInteger(at) && at > 0 ? at : undefined,
    panel: searchParams.get('panel') ?? 'flow',
    compare: searchParams.get('compare') ?? undefined,
    agent: searchParams.get('agent') ?? undefined,
    unknown: session === '' && pathname !== base && pathname !== base.replace(/\/$/, ''),
  }
}

function address({ session, at, panel, compare, agent, unknown }: Route): string {
  if (unknown) return location.pathname + location.search
  const query = new URLSearchParams()
  if (at !== undefined) query.set('at', String(at))
  if (panel !== 'flow') query.set('panel', panel)
  if (compare !== undefined) query.set('compare', compare)
  if (session === undefined && agent !== undefined) query.set('agent', agent)
  const path = session === undefined ? '' : `s/${encodeURIComponent(session)}`
  const text = query.toString()
  return `${new URL(root).pathname}${path}${text === '' ? '' : `?${text}`}`
}

/** The route as it was asked for. What is drawn may be a little behind it. */
export function routeNow(): Route {
  return current
}

/** The address of a session, for a link that can be opened in a new tab. */
export function hrefOf(session: string): string {
  return address({ session, at: undefined, panel: 'flow', compare: undefined, agent: undefined, unknown: false })
}

/** A link that shows the session at a moment, with the panel that is open now. */
export function linkTo(session: string, at: number | undefined): string {
  return new URL(address({ ...current, session, at, compare: undefined, unknown: false }), root).href
}

/** Changes the route. Another session or comparison is a new history entry; a new cursor or panel replaces the current one. */
export function navigate(change: Partial<Route>): void {
  const moved = 'session' in change && change.session !== current.session
  const left = current.unknown || ('compare' in change && change.compare !== current.compare)
  const fresh = moved ? { at: undefined, compare: undefined } : {}
  current = { ...current, ...fresh, unknown: false, ...change }
  if (moved || left) {
    writeAddress.cancel()
    history.pushState(null, '', address(current))
  } else if ('at' in change) writeAddress.soon()
  else writeAddress.now()
  for (const listener of [...listeners]) listener()
}

/** Browsers allow about 200 address changes in 30 s, and playing a session makes more: so at most four a second. */
const writeAddress = {
  timer: 0,
  soon(): void {
    if (writeAddress.timer === 0) writeAddress.timer = setTimeout(writeAddress.now, 250)
  },
  now(): void {
    writeAddress.cancel()
    if (address(current) !== location.pathname + location.search) history.replaceState(null, '', address(current))
  },
  cancel(): void {
    clearTimeout(writeAddress.timer)
    writeAddress.timer = 0
  },
}
addEventListener('pagehide', writeAddress.now)

addEventListener('popstate', () => {
  writeAddress.cancel()
  current = readRoute()
  for (const listener of [...listeners]) listener()
})

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const currentRoute = (): Route => current

/** One part of the route, so that a component that only needs the panel does not render when the cursor moves. */
export function useRoute<K extends keyof Route>(part: K): Route[K] {
  return useSyncExternalStore(subscribe, () => current[part])
}
