import type { ModelPrices } from '@millrace/core'
import { create } from 'zustand'
import { persist } from 'zustand/middleware'

/** The user's layout and preferences, stored across visits. */
interface Settings {
  readonly theme: 'system' | 'light' | 'dark'
  readonly sidebar: boolean
  readonly inspector: boolean
  readonly timeline: boolean
  readonly sidebarWidth: number
  readonly inspectorWidth: number
  readonly timelineHeight: number
  /** The time zone of all times on the page; empty is that of the browser. */
  readonly timeZone: string
  /** Prices of a million tokens by model, for this browser alone. They win over the costs in the log. */
  readonly prices: ModelPrices
  /** The agent that new sessions start with. */
  readonly agent: string
  set(change: Partial<Omit<Settings, 'set'>>): void
}

export const useSettings = create<Settings>()(
  persist(
    (set) => ({
      theme: 'system',
      sidebar: true,
      inspector: true,
      timeline: true,
      sidebarWidth: 256,
      inspectorWidth: Math.round(Math.max(360, Math.min(560, innerWidth * 0.34))),
      timelineHeight: 220,
      timeZone: '',
      prices: { currency: 'USD', models: {} },
      agent: '',
      set: (change) => set(change),
    }),
    { name: 'millrace' },
  ),
)

/** Applies the chosen theme; `system` follows the operating system. */
export function applyTheme(theme: Settings['theme']): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function nextTheme(): void {
  const { theme, set } = useSettings.getState()
  set({ theme: theme === 'system' ? 'light' : theme === 'light' ? 'dark' : 'system' })
}
