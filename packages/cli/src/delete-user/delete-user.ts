import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { deleteUser, fileEvalStore } from '@millrace/server'
import { CommandError } from '../command-error.ts'
import type { Env } from '../env-files.ts'
import { openStore, type StoreLocation, storeAt } from '../open-store.ts'
import { sayLine } from '../output.ts'
import { counted } from '../terminal.ts'

export interface DeleteUserOptions {
  readonly dataDir?: string
  readonly database?: string
  readonly server?: string
}

export async function deleteUserCommand(user: string, options: DeleteUserOptions, env: Env): Promise<void> {
  if (user === '') throw new CommandError('name the user to delete', 2)
  const { dataDir, database, server } = options
  const sessions =
    server === undefined
      ? await deleteInStore(database ?? dataDir ?? (env.DATABASE_URL || env.DATA_DIR || '.millrace'), user)
      : await deleteOnServer(server, user, env.MILLRACE_TOKEN)
  sayLine(`Deleted ${user}: ${counted(sessions, 'session')}`)
}

async function deleteInStore(text: string, user: string): Promise<number> {
  const place = storeAt(text)
  if (typeof place === 'string') throw new CommandError(place)
  // Opening would make an empty database, and the answer would be that there is nothing to delete.
  if (!isStore(place))
    throw new CommandError(`there is no database in ${place.folder}; name its folder with --data-dir`)
  const { log, owner } = await openStore(place, Date.now)
  try {
    const evals = fileEvalStore(join(place.folder, 'evals'))
    // A server that crashed may have left leases. No server is running now: opening the store made sure of that.
    const left = await log.expired(owner)
    return await deleteUser({ log, evals }, user, async ({ id }) => {
      for (const lease of left) if (lease.session === id) await log.release(await log.takeOver(lease, owner, 1000))
      await log.remove(id)
    })
  } finally {
    await log.close()
  }
}

function isStore({ folder }: StoreLocation): boolean {
  return existsSync(join(folder, 'millrace.db'))
}

async function deleteOnServer(server: string, user: string, token: string | undefined): Promise<number> {
  const place = `${server.replace(/\/+$/, '')}/operator/users/${encodeURIComponent(user)}`
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const answer = await fetch(place, { method: 'DELETE', headers }).catch((error: unknown) => {
    throw new CommandError(`${server} cannot be reached; check --server`, 1, { cause: error })
  })
  const { sessions, detail } = (await answer.json()) as { readonly sessions?: number; readonly detail?: string }
  if (sessions === undefined) throw new CommandError(`the server refused: ${detail ?? `status ${answer.status}`}`)
  return sessions
}
