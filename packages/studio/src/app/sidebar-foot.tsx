import { useRef } from 'react'
import { signOut } from '../session/client.ts'
import { openFile } from '../session/files.ts'
import { useSessions } from '../session/sessions.ts'
import { IconButton } from '../ui/controls.tsx'
import { showKeys } from './key-sheet.tsx'
import { navigate } from './route.ts'
import { nextTheme, useSettings } from './settings.ts'
import { showSettings } from './settings-sheet.tsx'
import { showError } from './toast.tsx'

const icons = { system: 'system', light: 'sun', dark: 'moon' } as const
const names = { system: 'System theme', light: 'Light theme', dark: 'Dark theme' } as const

/** Actions of the page itself: open a file, change the theme, show the keyboard shortcuts, sign out. */
export function SidebarFoot() {
  const theme = useSettings((settings) => settings.theme)
  const caller = useSessions((state) => state.caller)
  const field = useRef<HTMLInputElement>(null)
  return (
    <footer className="sidebar-foot">
      <IconButton icon="folder" label="Open a recording" onClick={() => field.current?.click()} />
      <input
        ref={field}
        type="file"
        hidden
        data-testid="open-file"
        accept=".jsonl,.ndjson,.sse,.txt,.log,.json"
        onChange={(event) => {
          const [file] = event.target.files ?? []
          if (file !== undefined) showFile(file)
          event.target.value = ''
        }}
      />
      <IconButton icon={icons[theme]} label={names[theme]} onClick={nextTheme} data-testid="theme" />
      <IconButton icon="settings" label="Settings" onClick={showSettings} data-testid="settings" />
      <IconButton icon="keyboard" label="Keyboard shortcuts (?)" onClick={showKeys} />
      {caller?.until !== undefined && (
        <IconButton
          icon="leave"
          label={`Sign out ${caller.user}`}
          data-testid="sign-out"
          onClick={() => void signOut().finally(() => location.reload())}
        />
      )}
    </footer>
  )
}

/** Opens a recording and shows it, or shows why it cannot be read. */
export function showFile(file: File): void {
  openFile(file).then(
    (session) => navigate({ session }),
    (error: unknown) => showError(`${file.name} cannot be opened: ${error instanceof Error ? error.message : error}`),
  )
}
