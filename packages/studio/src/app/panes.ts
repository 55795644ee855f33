import { useSyncExternalStore } from 'react'
import { create } from 'zustand'
import { panels } from './panels.ts'
import { useSettings } from './settings.ts'
import { slots } from './slots.ts'

export type Pane = 'sidebar' | 'inspector' | 'timeline'

const small = matchMedia('(max-width: 820px)')

/** On a phone one pane at a time lies over the conversation; it is not remembered. */
const useDrawer = create<{ readonly open: Pane | undefined }>()(() => ({ open: undefined }))

export function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      small.addEventListener('change', listener)
      return () => small.removeEventListener('change', listener)
    },
    () => small.matches,
  )
}

/** Which panes are there to be opened at all. */
export const available: Readonly<Record<Pane, boolean>> = {
  sidebar: true,
  inspector: panels.length > 0,
  timeline: slots.timeline !== undefined,
}

export function usePane(pane: Pane): boolean {
  const narrow = useNarrow()
  const drawer = useDrawer(({ open }) => open === pane)
  const kept = useSettings((settings) => settings[pane])
  return available[pane] && (narrow ? drawer : kept)
}

export function showPane(pane: Pane, shown: boolean): void {
  if (small.matches) useDrawer.setState({ open: shown ? pane : undefined })
  else useSettings.getState().set({ [pane]: shown })
}

export function togglePane(pane: Pane): void {
  showPane(pane, small.matches ? useDrawer.getState().open !== pane : !useSettings.getState()[pane])
}

/** On a phone, whatever lies over the conversation goes away. */
export function closeDrawer(): void {
  useDrawer.setState({ open: undefined })
}
