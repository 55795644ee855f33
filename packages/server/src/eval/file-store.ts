import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MillraceError } from '@millrace/core'
import { readEvalSet } from './eval-schema.ts'
import type { EvalSet, EvalSetResult } from './eval-set.ts'
import type { EvalOwner, EvalStore } from './eval-store.ts'

const setSuffix = '.evalset.json'
const resultSuffix = '.evalset_result.json'

/**
 * Sets and results as files of ADK's formats, one folder for each app: `<app>/<set>.evalset.json`, and results in
 * `<app>/eval_history`. ADK's own tools read the sets, and sets that they wrote can be put there.
 */
export function fileEvalStore(folder: string): EvalStore {
  const userFolder = (user: string): string => join(folder, `@${nameOf(user)}`)
  const appFolder = ({ user, app }: EvalOwner): string => join(user === '' ? folder : userFolder(user), nameOf(app))
  const setFile = (owner: EvalOwner, id: string): string => join(appFolder(owner), nameOf(id) + setSuffix)
  const resultFile = (owner: EvalOwner, id: string): string =>
    join(appFolder(owner), 'eval_history', nameOf(id) + resultSuffix)
  const set = async (owner: EvalOwner, id: string): Promise<EvalSet | undefined> => {
    const file = setFile(owner, id)
    const json = await readJson(file)
    return json === undefined ? undefined : readEvalSet(json, file)
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    sets: async (owner) => idsIn(appFolder(owner), setSuffix),
    set,
    change(owner, id, edit) {
      const done = last.then(async () => {
        const after = edit(await set(owner, id))
        if (after === undefined) await rm(setFile(owner, id), { force: true })
        else await write(setFile(owner, id), after)
      })
      last = done.catch(() => undefined)
      return done
    },
    results: async (owner) => idsIn(join(appFolder(owner), 'eval_history'), resultSuffix),
    result: async (owner, id) => (await readJson(resultFile(owner, id))) as EvalSetResult | undefined,
    saveResult: async (owner, result) => write(resultFile(owner, result.evalSetResultId), result),
    forgetUser: async (user) => {
      if (user !== '') await rm(userFolder(user), { recursive: true, force: true })
    },
  }
}

/** Characters of a name in a path. File systems take 255, and the suffixes need some of them. */
const longestName = 225

/** A name as one part of a path. Names come from requests: none of them may lead out of the folder. */
function nameOf(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new MillraceError('invalid', 'a name must be well-formed text')
  const name = encodeURIComponent(text)
    .replaceAll('*', '%2A')
    .replace(/^\.+/, (dots) => '%2E'.repeat(dots.length))
  if (name.length > longestName)
    throw new MillraceError('invalid', `a name is too long for a file: at most ${longestName} characters`)
  return name
}

async function idsIn(folder: string, suffix: string): Promise<readonly string[]> {
  const names = await ifThere(() => readdir(folder))
  return (names ?? [])
    .filter((name) => name.endsWith(suffix))
    .map((name) => decodeURIComponent(name.slice(0, -suffix.length)))
    .sort()
}

async function readJson(file: string): Promise<unknown> {
  const text = await ifThere(() => readFile(file, 'utf8'))
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new MillraceError('invalid', `${file} is not JSON: correct it or delete it`)
  }
}

/** Written beside the file and then renamed, so that a crash leaves the old file or the new one. */
async function write(file: string, value: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const handle = await open(`${file}.new`, 'w')
  try {
    await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${file}.new`, file)
}

async function ifThere<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
