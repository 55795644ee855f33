import { create } from 'zustand'
import type { FindMatch } from './find-matches.ts'

interface FindBarState {
  readonly open: boolean
  readonly text: string
  /** The match that is shown, from 0. */
  readonly current: number
  readonly matches: readonly FindMatch[]
}

const closed: FindBarState = { open: false, text: '', current: 0, matches: [] }

/** The search inside the conversation that is shown. */
export const useFindBar = create<FindBarState>()(() => closed)

export const findFieldId = 'find-in-conversation'

export function showFindBar(): void {
  useFindBar.setState({ open: true })
  const field = document.getElementById(findFieldId)
  if (field instanceof HTMLInputElement) {
    field.focus()
    field.select()
  }
}

export const hideFindBar = (): void => useFindBar.setState(closed)

export function stepFind(by: 1 | -1): void {
  useFindBar.setState(({ current, matches }) =>
    matches.length === 0 ? {} : { current: (current + by + matches.length) % matches.length },
  )
}
