import { type ComponentType, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat } from './chat-scene.tsx'
import { Cuts } from './cuts-scene.tsx'
import { Broken, Correct } from './plan-chat-scene.tsx'
import { ReconnectScene } from './reconnect-scene.tsx'
import { report } from './scene.ts'
import { Store } from './store-scene.tsx'

const scenes: Readonly<Record<string, ComponentType>> = {
  broken: Broken,
  correct: Correct,
  reconnect: ReconnectScene,
  store: Store,
  chat: Chat,
  cuts: Cuts,
}

window.report = report
const query = new URLSearchParams(location.search)
const Scene = scenes[query.get('scene') ?? ''] ?? (() => <p>no such scene</p>)
const root = createRoot(document.getElementById('root') as HTMLElement)
root.render(
  query.has('strict') ? (
    <StrictMode>
      <Scene />
    </StrictMode>
  ) : (
    <Scene />
  ),
)
report.acts.leave = () => root.unmount()
