import { randomUUID } from 'node:crypto'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ExportHeader, printLine, type Recorded } from '@millrace/core'
import { CommandError } from '../command-error.ts'
import type { Env } from '../env-files.ts'
import { refusal } from '../input.ts'
import { serverAddress, tokenHeader } from '../server-address.ts'
import { oneLine } from '../terminal.ts'
import { unwritable, writeText } from '../write-text.ts'
import type { TapOptions } from './tap.ts'
import type { Taped } from './tape.ts'

/** Where sessions go. */
export interface Keeper {
  /** Resolves with the places where the session now is. */
  keep(taped: Taped): Promise<readonly string[]>
  close(): Promise<void>
}

/** The user of sessions in a database without users of its own. */
const localUser = 'local'

export async function keepersOf(options: TapOptions, env: Env): Promise<Keeper> {
  const keepers = [
    ...(options.out === undefined ? [] : [inFiles(options.out)]),
    ...(options.server === undefined ? [] : [onServer(serverAddress(options.server, env), env)]),
    ...(options.dataDir === undefined ? [] : [await inStore(options.dataDir)]),
  ]
  return {
    keep: async (taped) => (await Promise.all(keepers.map((keeper) => keeper.keep(taped)))).flat(),
    async close() {
      for (const keeper of keepers) await keeper.close()
    },
  }
}

function agentOf(rows: readonly Recorded[]): string {
  for (const { event } of rows) {
    if (event.kind === 'run.started' && event.agent !== '') return event.agent.slice(0, 200)
    if (event.kind === 'agent' && event.event.author !== 'user') return event.event.author.slice(0, 200)
  }
  return ''
}

/** The first words of the user, by which people know a session; else the request. */
const titleOf = ({ method, path, said }: Taped): string =>
  (said && oneLine(said, 80)) || `${method} ${path}`.slice(0, 200)

/** Each stream is a session of its own: a thread goes on in the next one, and a session that exists cannot be added to. */
const newId = (): string => `tap-${randomUUID()}`

/** The session as an export, which keeps the time of each event. */
function exported(taped: Taped, id: string): string {
  const { rows } = taped
  const at = rows[0]?.at ?? 0
  const session = {
    id,
    user: localUser,
    agent: agentOf(rows),
    title: titleOf(taped),
    status: 'idle',
    lastSeq: rows.length,
    events: rows.length,
    runs: rows.filter(({ event }) => event.kind === 'run.started').length,
    createdAt: at,
    updatedAt: rows.at(-1)?.at ?? at,
  } as const
  const header: ExportHeader = { format: 'millrace.session', version: 1, session }
  return printLine(header) + rows.map(printLine).join('')
}

function inFiles(folder: string): Keeper {
  // Before a client calls, so that a folder that cannot be made is known at once.
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw unwritable(folder, error)
  }
  return {
    async keep(taped) {
      const id = newId()
      const file = join(folder, `${id}.jsonl`)
      writeText(file, exported(taped, id))
      return [file]
    },
    close: async () => {},
  }
}

function onServer(server: string, env: Env): Keeper {
  return {
    async keep(taped) {
      const id = newId()
      const headers = { 'content-type': 'application/x-ndjson', ...tokenHeader(env) }
      const answer = await fetch(`${server}/sessions/import?id=${id}`, {
        method: 'POST',
        headers,
        body: exported(taped, id),
      })
      if (!answer.ok) throw new CommandError(`${server} refused it: ${await refusal(answer)}`)
      return [`${server}/s/${id}`]
    },
    close: async () => {},
  }
}

async function inStore(folder: string): Promise<Keeper> {
  const { openStore } = await import('../open-store.ts')
  const { log } = await openStore({ kind: 'sqlite', folder }, Date.now)
  return {
    async keep(taped) {
      const id = newId()
      await log.restore({ id, user: localUser, agent: agentOf(taped.rows), title: titleOf(taped) }, taped.rows)
      return [id]
    },
    close: () => log.close(),
  }
}
