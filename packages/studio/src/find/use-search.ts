import type { FoundKind, FoundPage, FoundRow, SessionInfo } from '@millrace/core'
import { useCallback, useEffect, useState } from 'react'
import { client } from '../session/client.ts'

/** Milliseconds after the last key before the server is asked, and between two looks at an index that is being made. */
const typing = 120
const indexing = 800

export interface Search {
  readonly found: readonly FoundRow[]
  readonly sessions: ReadonlyMap<string, SessionInfo>
  readonly next: string | undefined
  readonly progress: FoundPage['indexing']
  readonly pending: boolean
  readonly error: string | undefined
}

const nothing: Search = {
  found: [],
  sessions: new Map(),
  next: undefined,
  progress: undefined,
  pending: false,
  error: undefined,
}

/** Searches all sessions for a text that is being typed. The answer to an earlier text never replaces a later one. */
export function useSearch(
  text: string,
  kind: FoundKind | undefined,
): Search & { readonly more: () => void; readonly again: () => void } {
  const [search, setSearch] = useState<Search>(nothing)
  const [asked, setAsked] = useState(0)
  const words = text.trim()
  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` repeats the question
  useEffect(() => {
    if (words === '') {
      setSearch(nothing)
      return
    }
    let over = false
    let timer = 0
    const ask = async (): Promise<void> => {
      try {
        const page = await client.search({ text: words, ...(kind === undefined ? {} : { kind }) })
        if (over) return
        setSearch(after(nothing, page))
        if (page.indexing !== undefined) timer = setTimeout(() => void ask(), indexing)
      } catch (error) {
        if (!over) setSearch({ ...nothing, error: error instanceof Error ? error.message : String(error) })
      }
    }
    setSearch((before) => ({ ...before, pending: true }))
    timer = setTimeout(() => void ask(), typing)
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [words, kind, asked])
  const { next } = search
  const more = useCallback(() => {
    if (next === undefined) return
    const query = { text: words, cursor: next, ...(kind === undefined ? {} : { kind }) }
    client.search(query).then(
      (page) => setSearch((before) => (before.next === next ? after(before, page) : before)),
      (error: unknown) => setSearch((before) => ({ ...before, error: String(error) })),
    )
  }, [words, kind, next])
  const again = useCallback(() => setAsked((count) => count + 1), [])
  return { ...search, more, again }
}

function after(before: Search, page: FoundPage): Search {
  return {
    found: [...before.found, ...page.found],
    sessions: new Map([...before.sessions, ...page.sessions.map((info) => [info.id, info] as const)]),
    next: page.next,
    progress: page.indexing,
    pending: false,
    error: undefined,
  }
}
