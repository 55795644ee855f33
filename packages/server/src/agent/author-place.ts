import { existsSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MillraceError, type RunEvent } from '@millrace/core'

/** The folders of agents that were loaded from files. Code in them, but not in their node_modules, is their authors'. */
const authorFolders = new Set<string>()

/** Remembers the folder, so that the place of an error in it can be named. */
export function knowAuthorFolder(folder: string): void {
  authorFolders.add(folder)
}

/** `weather/agent.ts:12`: where the author's code threw, relative to the agents folder; undefined when it did not. */
export function authorPlace(error: unknown): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  for (const line of stack.split('\n')) {
    const { path: found, at } = placeIn(line) ?? {}
    if (found === undefined) continue
    const path = found.startsWith('file://') ? fileURLToPath(found.split('?')[0] ?? '') : found
    const folder = [...authorFolders].find((one) => path.startsWith(one + sep))
    if (folder !== undefined && !path.includes(`${sep}node_modules${sep}`)) return `${relative(folder, path)}:${at}`
  }
  return undefined
}

/** The file and the line that end a line of a stack. The line may be a part of a message, that is, of any length. */
function placeIn(line: string): { readonly path: string; readonly at: string } | undefined {
  const end = /:(\d{1,9}):\d{1,9}\)?$/.exec(line)
  if (end === null) return undefined
  const before = line.slice(0, end.index)
  const inner = before.slice(Math.max(before.lastIndexOf('('), before.lastIndexOf(')')) + 1)
  const start = inner.search(/file:\/\/|[A-Za-z]:[\\/]|\//)
  return start === -1 ? undefined : { path: inner.slice(start), at: end[1] ?? '' }
}

/**
 * The row that tells the author where the code of a tool or a node threw. An error that is not the author's has none: its
 * message is all that there is to say.
 */
export function thrownAt(error: unknown, what: string, message: string): RunEvent | undefined {
  const place = error instanceof MillraceError ? undefined : authorPlace(error)
  if (place === undefined) return undefined
  return { kind: 'log', level: 'error', message: `${what} threw at ${place}: ${message}` }
}

/** A path of this machine, after a space, a quote or a bracket: never the path of a URL. */
const absolute = /(?<=^|[\s'"`(=[,])(?:file:\/\/)?(\/[^\s'"`():,\]]+|[A-Za-z]:\\[^\s'"`():,\]]+)/g

/** The text for clients: files of agents relative to the agents folder, any other path only by its last part. */
export function withoutPaths(text: string): string {
  let clean = text
  for (const folder of authorFolders) {
    clean = clean.replaceAll(join(folder, sep), '')
  }
  return clean.replace(absolute, (all: string, path: string) => (isOfMachine(path) ? basename(path) : all))
}

/** `/v1/chat` looks like a path too; a path of this machine begins with a folder that exists. */
function isOfMachine(path: string): boolean {
  if (/^[A-Za-z]:\\/.test(path)) return true
  const first = path.split('/')[1] ?? ''
  return first !== '' && path !== `/${first}` && existsSync(`/${first}`)
}
