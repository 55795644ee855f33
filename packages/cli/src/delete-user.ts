import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { deleteUser, fileEvalStore } from '@millrace/server'
import { openStore, type StoreLocation, storeAt } from './open-store.ts'

export const deleteUserHelp = `millrace delete-user USER — delete everything of a user: sessions, shared values, evaluation sets

  --data-dir DIR      folder of the SQLite database (DATA_DIR, .millrace); the server must be stopped
  --database URL      the same as a URL: file:DIR (DATABASE_URL)
  --server URL        delete on a running server instead; MILLRACE_TOKEN is the token of an operator`

const options = {
  'data-dir': { type: 'string' },
  database: { type: 'string' },
  server: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Resolves with the exit code. */
export async function deleteUserCommand(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const read = readArgs(args)
  if (typeof read === 'string') return complain(`${read}\n\n${deleteUserHelp}`, 2)
  const { values, user } = read
  if (values.help === true) {
    console.log(deleteUserHelp)
    return 0
  }
  if (user === undefined || user === '') return complain(`name the user to delete\n\n${deleteUserHelp}`, 2)
  try {
    const sessions =
      values.server === undefined
        ? await deleteInStore(
            values.database ?? values['data-dir'] ?? (env.DATABASE_URL || env.DATA_DIR || '.millrace'),
            user,
          )
        : await deleteOnServer(values.server, user, env.MILLRACE_TOKEN)
    console.log(`Deleted ${user}: ${sessions} ${sessions === 1 ? 'session' : 'sessions'}`)
    return 0
  } catch (error) {
    return complain(error instanceof Error ? error.message : String(error), 1)
  }
}

function readArgs(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    return positionals.length > 1 ? 'one user at a time' : { values, user: positionals[0] }
  } catch (error) {
    return (error as Error).message
  }
}

async function deleteInStore(text: string, user: string): Promise<number> {
  const place = storeAt(text)
  if (typeof place === 'string') throw new Error(place)
  // Opening would make an empty database, and the answer would be that there is nothing to delete.
  if (!isStore(place)) throw new Error(`there is no database in ${place.folder}; name its folder with --data-dir`)
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
    throw new Error(`${server} cannot be reached; check --server`, { cause: error })
  })
  const { sessions, detail } = (await answer.json()) as { readonly sessions?: number; readonly detail?: string }
  if (sessions === undefined) throw new Error(`the server refused: ${detail ?? `status ${answer.status}`}`)
  return sessions
}

function complain(sentence: string, code: number): number {
  console.error(`millrace: ${sentence}`)
  return code
}
