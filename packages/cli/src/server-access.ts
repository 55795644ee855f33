import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { memoryLog } from '@millrace/core'
import { millrace } from '@millrace/server'
import { CommandError } from './command-error.ts'
import type { Env } from './env-files.ts'
import { refusal } from './input.ts'
import { localAgents } from './local-agents.ts'
import { openStore, storeAt } from './open-store.ts'
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
export function serverAt(address: string, env: Env): ServerAccess {
  return {
    url: serverAddress(address, env),
    headers: tokenHeader(env),
    fetch: (url, init) => fetch(url, init),
    close: async () => {},
  }
}

/** A server in this process, with the agents of a folder. Without `data` its log is gone with the process. */
export async function ownServer(agents: string, data: string | undefined): Promise<ServerAccess> {
  const catalog = await localAgents(agents)
  const { log, owner } = await logAt(data)
  const app = await millrace({ agents: [...catalog.agents.values()], log, owner })
  return {
    url: 'http://localhost',
    agents: [...catalog.agents.keys()],
    headers: {},
    fetch: (url, init) => app.fetch(new Request(url, init)),
    async close() {
      await app.close(0)
      await catalog.close()
      await log.close()
    },
  }
}

/** The log of a folder or a database, behind a server in this process that has no agents. */
export async function logServer(place: string): Promise<ServerAccess> {
  const store = storeAt(place)
  if (typeof store === 'string') throw new CommandError(store, 2)
  if (store.kind === 'sqlite' && !existsSync(store.folder))
    throw new CommandError(`there is no log in ${place}; name another with --data-dir, or a server with --server`)
  const { log, owner } = await openStore(store, Date.now)
  const app = await millrace({ agents: [], log, owner })
  return {
    url: 'http://localhost',
    headers: {},
    fetch: (url, init) => app.fetch(new Request(url, init)),
    async close() {
      await app.close(0)
      await log.close()
    },
  }
}

async function logAt(data: string | undefined) {
  if (data === undefined) return { log: memoryLog(Date.now), owner: `${hostname()}:${randomUUID()}` }
  const store = storeAt(data)
  if (typeof store === 'string') throw new CommandError(store, 2)
  return openStore(store, Date.now)
}

/** Asks the server; an answer that is no success is a CommandError with what it says. */
export async function askServer(server: ServerAccess, path: string, init: RequestInit = {}): Promise<Response> {
  const url = `${server.url}${path}`
  let answer: Response
  try {
    const json = typeof init.body === 'string' ? { 'content-type': 'application/json' } : {}
    answer = await server.fetch(url, { ...init, headers: { ...json, ...server.headers, ...init.headers } })
  } catch (error) {
    const { cause, message } = error as { cause?: { code?: string }; message: string }
    throw new CommandError(`${server.url} cannot be reached (${cause?.code ?? message}); is the server running?`)
  }
  if (answer.ok) return answer
  const said = await refusal(answer)
  throw new CommandError(answer.status === 401 ? `${server.url} answered ${said}; set MILLRACE_TOKEN` : `${said}`)
}
