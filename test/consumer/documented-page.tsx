// The hooks as the documents call them (docs/requirements.md, R3 and R0).
import { selectDerivedMessages, studio, type TraceEvent } from '@millrace/core'
import { useAgentStatus, useChatStore, useChatStream, useSSE, useStatusMessages } from '@millrace/react'
import { useShallow } from 'zustand/react/shallow'
import { asDocumented, keysOf } from './documented-code.ts'

export function useDerivedMessages(sessionId: string) {
  return useChatStore(
    useShallow((state) => {
      const session = state.sessions[sessionId]
      return session ? selectDerivedMessages(session) : []
    }),
  )
}

/** A chat over the page's own store. `streaming=off` in the address asks for whole events only. */
export function DocumentedChat() {
  const streaming = new URLSearchParams(location.search).get('streaming') !== 'off'
  const { sendMessage, isStreaming, error } = useChatStream({ appName: 'research', sessionId: 'documented', streaming })
  const messages = useDerivedMessages('documented')
  const agents = useAgentStatus('documented')
  const updates = useStatusMessages('documented')
  return (
    <main>
      {messages.map((message) => (
        <p key={message.id} data-testid="message" data-role={message.role}>
          <b data-testid="message-author">{message.metadata.author}</b> {message.content}
        </p>
      ))}
      <ul>
        {updates.map(({ id, content }) => (
          <li key={id} data-testid="status-function-call">
            {content}
          </li>
        ))}
      </ul>
      <button type="button" disabled={isStreaming} onClick={() => void sendMessage('Research quantum computing')}>
        Send
      </button>
      <p data-testid="agents">{Object.values(agents).join(' ')}</p>
      <p role="status">{error?.message ?? (isStreaming ? 'streaming' : 'ready')}</p>
    </main>
  )
}

/** The timeline, the inspector and the overlay of ADK Studio. */
export function DocumentedTraces() {
  const sse = useSSE<TraceEvent>({ dialect: studio, onMessage: (event) => void keysOf(event) })
  const { snapshots, currentSnapshotIndex, stateKeys } = asDocumented(sse)
  return (
    <main>
      <button type="button" onClick={() => sse.connect('/api/projects/planner/stream?input=Hello')}>
        Run
      </button>
      <p data-testid="snapshots">{snapshots.map(({ nodeId, status }) => `${nodeId} ${status}`).join('\n')}</p>
      <p data-testid="current">{snapshots[currentSnapshotIndex]?.nodeId}</p>
      <p data-testid="keys">{[...stateKeys].map(([edge, keys]) => `${edge}: ${keys.join()}`).join('\n')}</p>
      <p role="status">{sse.status}</p>
    </main>
  )
}
