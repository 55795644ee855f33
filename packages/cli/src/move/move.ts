import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type WholeStore, wholePostgres, wholeSqlite } from '@millrace/server'
import { CommandError } from '../command-error.ts'
import type { Env } from '../env-files.ts'
import { type StoreLocation, storeAt } from '../open-store.ts'
import { type Moved, moveStore } from './move-store.ts'
import { moveProgress } from './progress.ts'

export interface StoresToMove {
  readonly from?: string
  readonly to?: string
  readonly merge?: boolean
  readonly json?: boolean
}

/** Copies a whole store into another one, reads both again, and prints what was moved. */
export async function moveCommand(options: StoresToMove, env: Env): Promise<void> {
  const wanted = wantedOf(options, env)
  const moved = await moveBetween(wanted)
  console.log(wanted.json ? JSON.stringify(moved) : sentence(moved, wanted))
}

interface Wanted {
  readonly from: StoreLocation
  readonly to: StoreLocation
  readonly merge: boolean
  readonly json: boolean
}

function wantedOf({ from: source, to: target, merge = false, json = false }: StoresToMove, env: Env): Wanted {
  const from = place(source ?? env.FROM_DATABASE_URL, '--from')
  const to = place(target ?? env.TO_DATABASE_URL, '--to')
  if (nameOf(from) === nameOf(to)) throw new CommandError('--from and --to are the same store', 2)
  if (from.kind === 'sqlite' && !existsSync(join(from.folder, 'millrace.db')))
    throw new CommandError(`there is no millrace.db in ${from.folder}; name the data folder with --from`, 2)
  return { from, to, merge, json }
}

/** A path may name the file instead of its folder. */
function place(text: string | undefined, flag: string): StoreLocation {
  if (text === undefined || text === '')
    throw new CommandError(`${flag} is missing; it names a data folder or a postgresql:// URL`, 2)
  const store = storeAt(text)
  if (typeof store === 'string') throw new CommandError(store, 2)
  if (store.kind === 'postgres') return store
  const isFile = statSync(store.folder, { throwIfNoEntry: false })?.isFile() === true
  if (basename(store.folder) === 'millrace.db') return { kind: 'sqlite', folder: dirname(resolve(store.folder)) }
  if (isFile)
    throw new CommandError(`${store.folder} is not a data folder of Millrace: its database is named millrace.db`, 2)
  return store
}

function nameOf(store: StoreLocation): string {
  return store.kind === 'postgres' ? store.url : resolve(store.folder)
}

async function moveBetween({ from, to, merge, json }: Wanted): Promise<Moved> {
  const source = await open(from)
  try {
    const target = await open(to)
    try {
      const onProgress = json ? () => undefined : moveProgress(process.stderr)
      return await moveStore(source, target, { merge, onProgress })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

function open(store: StoreLocation): Promise<WholeStore> {
  return store.kind === 'postgres' ? wholePostgres(store.url) : wholeSqlite(store.folder, Date.now)
}

function sentence(moved: Moved, { from }: Wanted): string {
  const number = (value: number): string => value.toLocaleString('en')
  const evals = from.kind === 'sqlite' && existsSync(join(from.folder, 'evals'))
  return [
    `Moved ${number(moved.sessions)} sessions with ${number(moved.events)} events, ${number(moved.values)} shared values and ${number(moved.artifacts)} shared files.`,
    ...(moved.already > 0 ? [`${number(moved.already)} of the sessions were there already.`] : []),
    `Both stores were read again and have the same: sha256 ${moved.sha256}`,
    ...(moved.secret
      ? []
      : ['The target kept its own secret: agents begin anew where they would go on from a checkpoint of the source.']),
    ...(evals ? ['Evaluation sets are files: copy the folder evals into the DATA_DIR of the new servers.'] : []),
  ].join('\n')
}
