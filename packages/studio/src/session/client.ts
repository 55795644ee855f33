import { type WebGlobals, webHost } from '@millrace/core'
import { type Client, createClient } from '@millrace/react'
import { root } from '../app/route.ts'
import { fileHandle } from './files.ts'

/** Pages of other sites cannot send this header, so the server knows a request of its own page by it, also over http. */
const headers: Readonly<Record<string, string>> = { 'x-requested-with': 'millrace' }

const server: Client = createClient({
  baseUrl: root.replace(/\/$/, ''),
  host: webHost(globalThis as unknown as WebGlobals),
  headers,
  bulk: true,
  // A hidden tab gets no animation frames but must not fall behind: it is updated once a second instead.
  schedule: (flush) => {
    if (document.hidden) setTimeout(flush, 1000)
    else requestAnimationFrame(flush)
  },
})

/** Sessions of the server and files opened on this page, behind one interface. */
export const client: Client = { ...server, session: (id) => fileHandle(id) ?? server.session(id) }

/** A request whose body or response is not JSON: exporting a log or importing a recording. */
export async function requestText(path: string, { body }: { readonly body?: string } = {}): Promise<string> {
  const sent = body === undefined ? {} : { method: 'POST', body }
  const type = body === undefined ? {} : { 'content-type': 'text/plain' }
  const answer = await fetch(`${root}${path}`, { ...sent, headers: { ...headers, ...type } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(detailOf(text) ?? `status ${answer.status}`)
  return text
}

/** Who is signed in on this page. */
export interface Caller {
  readonly user: string
  readonly operator: boolean
  /** When the cookie ends, in ms; absent on a server that needs none. */
  readonly until?: number
}

/** Sends the token once. The server answers with a cookie that scripts cannot read; the page keeps nothing. */
export async function signIn(token: string): Promise<void> {
  const answer = await fetch(`${root}sign-in`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${token}` },
  })
  if (!answer.ok) throw new Error(detailOf(await answer.text()) ?? `status ${answer.status}`)
}

export async function signOut(): Promise<void> {
  await fetch(`${root}sign-out`, { method: 'POST', headers })
}

/** The readable message of a problem document (RFC 9457). */
export function detailOf(text: string): string | undefined {
  try {
    const { detail, title } = JSON.parse(text) as { detail?: string; title?: string }
    return detail ?? title
  } catch {
    return undefined
  }
}
