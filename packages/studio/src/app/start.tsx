import { MillraceProvider } from '@millrace/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { client } from '../session/client.ts'
import { loadPanels } from './panels.ts'
import { Shell } from './shell.tsx'

export function start(place: HTMLElement | null): void {
  if (place === null) return
  createRoot(place).render(
    <StrictMode>
      <MillraceProvider client={client}>
        <Shell />
      </MillraceProvider>
    </StrictMode>,
  )
  if ('requestIdleCallback' in globalThis) requestIdleCallback(loadPanels, { timeout: 3000 })
  else setTimeout(loadPanels, 1000)
}
