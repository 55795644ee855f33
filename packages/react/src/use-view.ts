import type { LiveLog, View } from '@millrace/core'
import { useRef, useSyncExternalStore } from 'react'

export interface UseViewOptions<S, T> {
  /** The moment to show; absent: the live end. */
  readonly at?: number
  /** Read a part of it: the component renders again only when that part changes. */
  readonly select?: (state: S) => T
}

/** A view of a log, folded outside React: told at most once per frame, rendered only when what is read has changed. */
export function useView<S, T = S>(log: LiveLog, view: View<S>, options: UseViewOptions<S, T> = {}): T {
  const latest = useRef(options)
  latest.current = options
  /** The last answer, so that a selector that makes a new object does not look like a change. */
  const answer = useRef<{ state: S; select: ((state: S) => T) | undefined; result: T } | undefined>(undefined)
  const read = (): T => {
    const { at, select } = latest.current
    const state = at === undefined ? log.read(view) : log.readAt(view, at)
    const last = answer.current
    if (last !== undefined && last.state === state && last.select === select) return last.result
    const result = select === undefined ? (state as unknown as T) : select(state)
    answer.current = { state, select, result }
    return result
  }
  return useSyncExternalStore(log.subscribe, read, read)
}
