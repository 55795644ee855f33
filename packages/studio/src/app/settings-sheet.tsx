import { create } from 'zustand'
import { IconButton } from '../ui/controls.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { PriceFields } from './price-fields.tsx'
import { RemovedList } from './removed-list.tsx'
import { useSettings } from './settings.ts'
import './key-sheet.css'

const useSheet = create<{ readonly open: boolean }>()(() => ({ open: false }))

export const showSettings = (): void => useSheet.setState({ open: true })
const hide = (): void => useSheet.setState({ open: false })

const themes = [
  ['system', 'same as the system'],
  ['light', 'light'],
  ['dark', 'dark'],
] as const

/** The theme, the time zone and prices. They are kept in this browser. */
export function SettingsSheet() {
  const { open } = useSheet()
  const { theme, timeZone, set } = useSettings()
  return (
    <Sheet
      open={open}
      onClose={hide}
      className="key-sheet settings-sheet"
      testId="settings-sheet"
      titleId="settings-title"
    >
      <header>
        <h2 id="settings-title">Settings</h2>
        <IconButton icon="close" label="Close" onClick={hide} />
      </header>
      <div className="settings-fields">
        <label htmlFor="settings-theme">Theme</label>
        <select
          id="settings-theme"
          value={theme}
          onChange={(event) => set({ theme: themes.find(([name]) => name === event.target.value)?.[0] ?? 'system' })}
        >
          {themes.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
        <label htmlFor="settings-zone">Time zone</label>
        <select
          id="settings-zone"
          data-testid="settings-zone"
          value={timeZone}
          onChange={(event) => set({ timeZone: event.target.value })}
        >
          <option value="">same as the browser ({Intl.DateTimeFormat().resolvedOptions().timeZone})</option>
          <option value="UTC">UTC</option>
          {Intl.supportedValuesOf('timeZone').map((zone) => (
            <option key={zone} value={zone}>
              {zone}
            </option>
          ))}
        </select>
      </div>
      <PriceFields />
      {open && <RemovedList />}
    </Sheet>
  )
}
