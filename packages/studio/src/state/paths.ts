import type { Json, JsonObject, StateChange } from '@millrace/core'

/** The JSON Pointer (RFC 6901) of a child; the path of the root is ''. */
export function childPointer(path: string, key: string): string {
  return `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

export function lastKey(path: string): string {
  return path
    .slice(path.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
}

/** The writer of a change: the agent that made it, otherwise the step in which it happened, otherwise a client. */
export function writerOf({ author, node }: Pick<StateChange, 'author' | 'node'>): string {
  if (author !== undefined) return author
  return node === undefined ? 'client' : (node.split('/').at(-1) ?? node).replace(/@\d+$/, '')
}

export function isBranch(value: Json | undefined): value is JsonObject | readonly Json[] {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

export interface Found {
  readonly path: string
  readonly value: Json
}

/** A state may hold megabytes, so the search is limited: values visited, and results shown. */
const mostSeen = 20_000
const mostFound = 200

/** The values whose key or text contains the words, nearest to the root first. */
export function searchState(state: JsonObject, words: string): readonly Found[] {
  const wanted = words.toLowerCase()
  const found: Found[] = []
  const left: Found[] = [{ path: '', value: state }]
  for (let i = 0; i < left.length && i < mostSeen && found.length < mostFound; i++) {
    const { path, value } = left[i] as Found
    const branch = isBranch(value)
    if (
      path !== '' &&
      (lastKey(path).toLowerCase().includes(wanted) || (!branch && String(value).toLowerCase().includes(wanted)))
    ) {
      found.push({ path, value })
    }
    if (branch)
      for (const [key, item] of Object.entries(value)) left.push({ path: childPointer(path, key), value: item as Json })
  }
  return found
}
