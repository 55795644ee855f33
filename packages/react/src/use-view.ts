import type { LiveLog, View } from '@millrace/core'
import { useRef, useSyncExternalStore } from 'react'
import { useSurroundingSession } from './provider.tsx'
import { shareUnchanged } from './structural-sharing.ts'

export interface UseViewOptions<S, T> {
  /** The seq at which to show the view. Default: the live end. */
  readonly at?: number | undefined
  /**
   * Selects a part: the component renders again only when that part changes. A rebuilt value that is equal counts as
   * unchanged, row by row.
   */
  readonly select?: (state: S) => T
}

/**
 * A view of a log, folded outside React: updated at most once per frame, rendered only when the selected part changes.
 * Without a log argument, the log of the `SessionProvider` above is used.
 */
export function useView<S, T = S>(view: View<S>, options?: UseViewOptions<S, T>): T
export function useView<S, T = S>(log: LiveLog, view: View<S>, options?: UseViewOptions<S, T>): T
export function useView<S, T = S>(
  first: LiveLog | View<S>,
  second?: View<S> | UseViewOptions<S, T>,
  third?: UseViewOptions<S, T>,
): T {
  const surrounding = useSurroundingSession()
  const { log, view, options } = argumentsOf(first, second, third, surrounding?.session.log)
  const { at, select } = options
  /** The last result, so that a selector that builds a new object does not look like a change. */
  const latest = useRef<{ state: S; select: ((state: S) => T) | undefined; result: T } | undefined>(undefined)
  // A new function for each render, so that a render that React discards leaves nothing behind.
  const read = (): T => {
    const state = at === undefined ? log.read(view) : log.readAt(view, at)
    const last = latest.current
    if (last !== undefined && last.state === state && last.select === select) return last.result
    const made = select === undefined ? (state as unknown as T) : select(state)
    const result = last === undefined ? made : shareUnchanged(last.result, made)
    latest.current = { state, select, result }
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
  surrounding: LiveLog | undefined,
): Arguments<S, T> {
  if ('subscribe' in first) return { log: first, view: second as View<S>, options: third ?? {} }
  if (surrounding === undefined) {
    throw new Error(
      'useView(view) has no log: pass one, or render it inside <SessionProvider session={useSession(id)}>',
    )
  }
  return { log: surrounding, view: first, options: (second as UseViewOptions<S, T> | undefined) ?? {} }
}
