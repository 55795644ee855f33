'use client'

import type { LegacyEvent, ParsedAdkEvent } from '@millrace/core'
import { createChatStore, useAgentStatus, useDerivedMessages, useSSE } from '@millrace/react'
import { useState } from 'react'
import { config } from '../lib/env.ts'

/** With the flag, the stream consists of ADK events and the messages are derived from them; without it, nothing changes. */
export function Chat({ sessionId }: { sessionId: string }) {
  const [store] = useState(() => createChatStore())
  const [legacy, setLegacy] = useState<readonly LegacyEvent[]>([])
  const messages = useDerivedMessages(sessionId, store)
  const agents = useAgentStatus(sessionId, store)
  const { connect, status, error } = useSSE({
    canonical: config.adk.enableCanonicalStream,
    onMessage: (event: ParsedAdkEvent | LegacyEvent) => {
      if ('rawEvent' in event) store.getState().addRawEvent(sessionId, event.rawEvent)
      else setLegacy((all) => [...all, event])
    },
  })
  const ask = async (text: string) => {
    if (!config.adk.enableCanonicalStream) return connect(config.legacyUrl, { sessionId, message: text })
    const { appName, defaultUser: userId } = config.adk
    const newMessage = { role: 'user', parts: [{ text }] }
    await fetch(`${config.millrace}/apps/${appName}/users/${userId}/sessions/${sessionId}`, { method: 'POST' })
    connect(`${config.millrace}/run_sse`, { appName, userId, sessionId, newMessage, streaming: true })
  }
  return (
    <main>
      {messages.map(({ id, content, metadata: { author } }) => (
        <p key={id} data-testid="message">
          <b data-testid="message-author">{author}</b> {agents[author] === 'active' ? '…' : ''} {content}
        </p>
      ))}
      {legacy.length === 0 ? null : <pre>{legacy.map((event) => JSON.stringify(event)).join('\n')}</pre>}
      <button type="button" disabled={status === 'open'} onClick={() => void ask('Research quantum computing')}>
        Ask
      </button>
      <p role="status">{error?.message ?? status}</p>
    </main>
  )
}
