import { CommandError } from './command-error.ts'
import type { Env } from './env-files.ts'
import { statedReason, whyUnreachable } from './input.ts'
import { serverAddress, tokenHeader } from './server-address.ts'

/** A Millrace that answers requests: a running server, or one inside this process. */
export interface ServerAccess {
  readonly url: string
  /** The names of its agents, where they are known without a request. */
  readonly agents?: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>
  close(): Promise<void>
}

/** A running server. */
export function serverAt(address: string | undefined, env: Env): ServerAccess {
  return {
    url: serverAddress(address, env),
    headers: tokenHeader(env),
    fetch: (url, init) => fetch(url, init),
    close: async () => {},
  }
}

/** Asks the server; an answer that is no success is a CommandError with what it says. */
export async function askServer(server: ServerAccess, path: string, init: RequestInit = {}): Promise<Response> {
  const url = `${server.url}${path}`
  let answer: Response
  try {
    const json = typeof init.body === 'string' ? { 'content-type': 'application/json' } : {}
    answer = await server.fetch(url, { ...init, headers: { ...json, ...server.headers, ...init.headers } })
  } catch (error) {
    throw new CommandError(`${server.url} cannot be reached (${whyUnreachable(error)}); is the server running?`)
  }
  if (answer.ok) return answer
  const { status } = answer
  const said = (await statedReason(answer)) ?? `${server.url} does not do this`
  throw new CommandError(`${said} (${status})${status === 401 ? '; set MILLRACE_TOKEN' : ''}`)
}
