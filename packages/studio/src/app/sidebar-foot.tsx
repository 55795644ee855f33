import { useRef } from 'react'
import { openFile } from '../session/files.ts'
import { IconButton } from '../ui/controls.tsx'
import { showKeys } from './key-sheet.tsx'
import { navigate } from './route.ts'
import { nextTheme, useSettings } from './settings.ts'
import { complain } from './toast.tsx'

const icons = { system: 'system', light: 'sun', dark: 'moon' } as const
const names = { system: 'as the system', light: 'light', dark: 'dark' } as const

/** What belongs to the page and to no session. */
export function SidebarFoot() {
  const theme = useSettings((settings) => settings.theme)
  const field = useRef<HTMLInputElement>(null)
  return (
    <footer className="sidebar-foot">
      <IconButton icon="folder" label="Open a recorded file" onClick={() => field.current?.click()} />
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
      <IconButton icon={icons[theme]} label={`Theme: ${names[theme]}`} onClick={nextTheme} data-testid="theme" />
      <IconButton icon="keyboard" label="Keyboard (?)" onClick={showKeys} />
    </footer>
  )
}

/** Opens a recording and goes there, or says why it cannot be read. */
export function showFile(file: File): void {
  openFile(file).then(
    (session) => navigate({ session }),
    (error: unknown) => complain(`${file.name} cannot be opened: ${error instanceof Error ? error.message : error}`),
  )
}
