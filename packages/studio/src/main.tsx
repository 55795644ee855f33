import '@fontsource-variable/inter'
import '@fontsource-variable/jetbrains-mono'
import './ui/tokens.css'
import './ui/base.css'
import { MillraceProvider } from '@millrace/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Shell } from './app/shell.tsx'
import { client } from './session/client.ts'

const root = document.getElementById('root')
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <MillraceProvider client={client}>
        <Shell />
      </MillraceProvider>
    </StrictMode>,
  )
