import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { memoryLog } from '@millrace/core'
import { millrace } from '@millrace/server'
import { CommandError } from './command-error.ts'
import { localAgents } from './local-agents.ts'
import { openStore, storeAt } from './open-store.ts'
import type { ServerAccess } from './server-access.ts'

// Apart from `server-access.ts`, because a command that asks a running server must not wait until a server has loaded.

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
