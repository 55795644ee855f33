import { type ComponentType, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import * as readme from '../contract/react-readme.tsx'
import { DocumentedChat, DocumentedTraces } from './documented-page.tsx'

const shown: Readonly<Record<string, ComponentType>> = {
  ...readme,
  Debugger: () => <readme.Debugger project="planner" />,
  DocumentedChat,
  DocumentedTraces,
}
const Shown = shown[new URLSearchParams(location.search).get('show') ?? ''] ?? (() => <p>no such component</p>)
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <Shown />
  </StrictMode>,
)
