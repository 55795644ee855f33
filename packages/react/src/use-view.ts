import type { LiveLog, View } from '@millrace/core'
import { useRef, useSyncExternalStore } from 'react'
import { useAround } from './provider.tsx'
import { shared } from './structural-sharing.ts'

export interface UseViewOptions<S, T> {
  /** The moment to show; absent: the live end. */
  readonly at?: number
  /**
   * Read a part of it: the component renders again only when that part changes. What is made anew and says the same
   * counts as the same, row by row.
   */
  readonly select?: (state: S) => T
}

/**
 * A view of a log, folded outside React: told at most once per frame, rendered only when what is read has changed.
 * Without a log, that of the `SessionProvider` above.
 */
export function useView<S, T = S>(view: View<S>, options?: UseViewOptions<S, T>): T
export function useView<S, T = S>(log: LiveLog, view: View<S>, options?: UseViewOptions<S, T>): T
export function useView<S, T = S>(
  first: LiveLog | View<S>,
  second?: View<S> | UseViewOptions<S, T>,
  third?: UseViewOptions<S, T>,
): T {
  const around = useAround()
  const { log, view, options } = argumentsOf(first, second, third, around?.session.log)
  const { at, select } = options
  /** The last answer, so that a selector that makes a new object does not look like a change. */
  const answer = useRef<{ state: S; select: ((state: S) => T) | undefined; result: T } | undefined>(undefined)
  // Of this render, so that a render that React drops leaves nothing behind.
  const read = (): T => {
    const state = at === undefined ? log.read(view) : log.readAt(view, at)
    const last = answer.current
    if (last !== undefined && last.state === state && last.select === select) return last.result
    const made = select === undefined ? (state as unknown as T) : select(state)
    const result = last === undefined ? made : shared(last.result, made)
    answer.current = { state, select, result }
    return result
  }
  return useSyncExternalStore(log.subscribe, read, read)
}

interface Arguments<S, T> {
  readonly log: LiveLog
  readonly view: View<S>
  readonly options: UseViewOptions<S, T>
}

function argumentsOf<S, T>(
  first: LiveLog | View<S>,
  second: View<S> | UseViewOptions<S, T> | undefined,
  third: UseViewOptions<S, T> | undefined,
  around: LiveLog | undefined,
): Arguments<S, T> {
  if ('subscribe' in first) return { log: first, view: second as View<S>, options: third ?? {} }
  if (around === undefined) throw new Error('name a log, or put a <SessionProvider session={useSession(id)}> above')
  return { log: around, view: first, options: (second as UseViewOptions<S, T> | undefined) ?? {} }
}
