import { useSyncExternalStore } from 'react'
import { create } from 'zustand'
import { useSettings } from './settings.ts'

export type Pane = 'sidebar' | 'inspector' | 'timeline'

const small = matchMedia('(max-width: 820px)')

/** On a narrow screen one pane at a time covers the conversation. A link to a panel opens the inspector. */
const useDrawer = create<{ readonly open: Pane | undefined }>()(() => ({
  open: new URL(location.href).searchParams.has('panel') ? 'inspector' : undefined,
}))

export const isNarrow = (): boolean => small.matches

export function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      small.addEventListener('change', listener)
      return () => small.removeEventListener('change', listener)
    },
    () => small.matches,
  )
}

export function usePane(pane: Pane): boolean {
  const narrow = useNarrow()
  const drawer = useDrawer(({ open }) => open === pane)
  const remembered = useSettings((settings) => settings[pane])
  return narrow ? drawer : remembered
}

export function showPane(pane: Pane, shown: boolean): void {
  if (small.matches) useDrawer.setState({ open: shown ? pane : undefined })
  else useSettings.getState().set({ [pane]: shown })
}

export function togglePane(pane: Pane): void {
  showPane(pane, small.matches ? useDrawer.getState().open !== pane : !useSettings.getState()[pane])
}

/** Closes the pane that covers the conversation on a narrow screen. */
export function closeDrawer(): void {
  useDrawer.setState({ open: undefined })
}

/** Whether the inspector takes the place of the conversation. It is not remembered. */
const useMaximising = create<{ readonly maximised: boolean }>()(() => ({ maximised: false }))

export function useMaximised(): boolean {
  const narrow = useNarrow()
  return useMaximising(({ maximised }) => maximised) && !narrow
}

export function toggleMaximised(): void {
  useMaximising.setState(({ maximised }) => ({ maximised: !maximised }))
}
