import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, chmod, mkdir, open, readdir, readFile, rename, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { asStoreFailure, storeFailed } from '../store-error.ts'

/** What Millrace keeps in its data folder. */
const ours = /^(millrace\.(db|lock|key)(-wal|-shm|-journal|\.new)?|evals)$/

const ownerOnly = 0o700
const ownFile = 0o600

/**
 * Creates the folder, open to this user alone, and checks that it can be used. A folder that was there before and has
 * anything else in it keeps its mode: it may be somebody's project, and the files in it are closed to others anyway.
 */
export async function prepareFolder(folder: string): Promise<void> {
  try {
    const isNew = await makeFolder(folder)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    if (!isNew && (await readdir(folder)).every((name) => ours.test(name))) await restrict(folder, ownerOnly)
  } catch (error) {
    throw asStoreFailure(error, folder, 'use the data folder')
  }
}

/**
 * Whether the folder had to be made. Folders are made one by one, because `mkdir` with `recursive` never returns where
 * the file system answers that the parent does not exist although it does, as `/proc` does.
 */
async function makeFolder(folder: string): Promise<boolean> {
  const missing: string[] = []
  for (let at = resolve(folder); !(await isFolder(at)); at = dirname(at)) missing.push(at)
  const [last, ...above] = missing
  for (const each of above.reverse()) await mkdir(each)
  if (last !== undefined) await mkdir(last, ownerOnly)
  return last !== undefined
}

async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
  throw storeFailed('foreign', path, 'use the data folder')
}

/** Creates the file if it is missing, and closes it to other users. SQLite gives its other files the mode of this one. */
export async function closeToOthers(path: string): Promise<void> {
  await (await open(path, 'a', ownFile)).close()
  for (const each of [path, `${path}-wal`, `${path}-shm`]) await restrict(each, ownFile)
}

/** Another user's file keeps its mode: this user may not change it. */
async function restrict(path: string, mode: number): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found !== undefined && (found.mode & 0o077) !== 0) await chmod(path, mode).catch(() => undefined)
}

const secretBytes = 32

/** The secret of this data folder, made when it is first asked for. One that is cut short is replaced. */
export async function folderSecret(folder: string): Promise<Uint8Array> {
  const path = join(folder, 'millrace.key')
  try {
    const known = await readFile(path).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (known?.length === secretBytes) {
      await restrict(path, ownFile)
      return known
    }
    const made = randomBytes(secretBytes)
    await keepFolderSecret(folder, made)
    return made
  } catch (error) {
    throw asStoreFailure(error, path, 'use')
  }
}

export async function keepFolderSecret(folder: string, secret: Uint8Array): Promise<void> {
  const path = join(folder, 'millrace.key')
  const file = await open(`${path}.new`, 'w', ownFile)
  try {
    await file.writeFile(secret)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
}

function codeOf(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code
}
