import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type WholeStore, wholePostgres, wholeSqlite } from '@millrace/server'
import { type Moved, moveStore } from './move-store.ts'
import { moveProgress } from './move-store-progress.ts'
import { type StoreLocation, storeAt } from './open-store.ts'

export const moveHelp = `millrace move --from STORE --to STORE — copy a whole store into another one, and compare both

  --from STORE        a data folder, its millrace.db, or postgresql://…; its servers must be stopped, and it stays as it is
  --to STORE          the same; a folder and the tables are made if they are missing
  --merge             allow a target that has other sessions; nothing there is overwritten
  --json              print the result as one line of JSON

A move that was cut goes on where it was when the same command runs again. Evaluation sets are files: copy the folder evals yourself.
Exit codes: 0 both stores have the same, 1 refused or failed (a sentence says why), 2 wrong arguments.
FROM_DATABASE_URL and TO_DATABASE_URL say the same as --from and --to without showing a password in the list of processes.`

const options = {
  from: { type: 'string' },
  to: { type: 'string' },
  merge: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Resolves with the exit code. */
export async function moveStoreCommand(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<number> {
  const read = readArgs(args, env)
  if (read === 'help') {
    console.log(moveHelp)
    return 0
  }
  if (typeof read === 'string') return complain(`${read}\n\n${moveHelp}`, 2)
  try {
    const moved = await moveBetween(read)
    console.log(read.json ? JSON.stringify(moved) : sentence(moved, read))
    return 0
  } catch (error) {
    return complain(error instanceof Error ? error.message : String(error), 1)
  }
}

interface Wanted {
  readonly from: StoreLocation
  readonly to: StoreLocation
  readonly merge: boolean
  readonly json: boolean
}

function readArgs(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Wanted | string {
  let values: ReturnType<typeof parse>
  try {
    values = parse(args)
  } catch (error) {
    return (error as Error).message
  }
  if (values.help === true) return 'help'
  const from = place(values.from ?? env.FROM_DATABASE_URL, '--from')
  if (typeof from === 'string') return from
  const to = place(values.to ?? env.TO_DATABASE_URL, '--to')
  if (typeof to === 'string') return to
  if (nameOf(from) === nameOf(to)) return '--from and --to are the same store'
  if (from.kind === 'sqlite' && !existsSync(join(from.folder, 'millrace.db')))
    return `there is no millrace.db in ${from.folder}; name the data folder with --from`
  return { from, to, merge: values.merge === true, json: values.json === true }
}

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], options }).values
}

/** A store, or a sentence that says why there is none. A path may name the file instead of its folder. */
function place(text: string | undefined, flag: string): StoreLocation | string {
  if (text === undefined || text === '') return `${flag} is missing; it names a data folder or a postgresql:// URL`
  const store = storeAt(text)
  if (typeof store === 'string' || store.kind === 'postgres') return store
  const isFile = statSync(store.folder, { throwIfNoEntry: false })?.isFile() === true
  if (!isFile && basename(store.folder) !== 'millrace.db') return store
  return basename(store.folder) === 'millrace.db'
    ? { kind: 'sqlite', folder: dirname(resolve(store.folder)) }
    : `${store.folder} is not a data folder of Millrace: its database is named millrace.db`
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

function complain(text: string, code: number): number {
  console.error(`millrace: ${text}`)
  return code
}
