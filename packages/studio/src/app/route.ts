import { useSyncExternalStore } from 'react'

/** Where the page is: which session, at which moment, with which panel open. The address bar is the store. */
export interface Route {
  readonly session: string | undefined
  /** The shared cursor: the seq every panel shows; undefined is live. */
  readonly at: number | undefined
  readonly panel: string
  /** A second session to compare with. */
  readonly compare: string | undefined
}

const listeners = new Set<() => void>()

/** The address of the page's own root, behind whatever prefix: `<base href>` is written by the server. */
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
  }
}

function address({ session, at, panel, compare }: Route): string {
  const query = new URLSearchParams()
  if (at !== undefined) query.set('at', String(at))
  if (panel !== 'flow') query.set('panel', panel)
  if (compare !== undefined) query.set('compare', compare)
  const path = session === undefined ? '' : `s/${encodeURIComponent(session)}`
  const text = query.toString()
  return `${new URL(root).pathname}${path}${text === '' ? '' : `?${text}`}`
}

/** The address of a session, for a link that can be opened in a tab of its own. */
export function hrefOf(session: string): string {
  return address({ session, at: undefined, panel: 'flow', compare: undefined })
}

/** Goes somewhere. Another session is a new entry in the history; moving the cursor or a panel only corrects it. */
export function navigate(change: Partial<Route>): void {
  const moved = 'session' in change && change.session !== current.session
  current = { ...current, ...(moved ? { at: undefined, compare: undefined } : {}), ...change }
  if (moved) {
    writeAddress.cancel()
    history.pushState(null, '', address(current))
  } else if ('at' in change) writeAddress.soon()
  else writeAddress.now()
  for (const listener of [...listeners]) listener()
}

/** Browsers allow some 200 corrections of the address in 30 s; playing a session makes more. So: four a second. */
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

/** One part of where the page is: who shows the panel is not drawn again because the cursor moved. */
export function useRoute<K extends keyof Route>(part: K): Route[K] {
  return useSyncExternalStore(subscribe, () => current[part])
}
