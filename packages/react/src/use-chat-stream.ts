import type { AdkEvent, AgentTransition, DerivedMessage, Host, RequestHeaders } from '@millrace/core'
import { defined } from '@millrace/core'
import { useEffect, useRef, useState } from 'react'
import type { ChatStore } from './chat-store.ts'
import { createClient } from './session-client.ts'
import { type SSEStatus, StreamError } from './sse-stream.ts'
import {
  useAgentStatus,
  useAgentTransitions,
  useDerivedMessages,
  useStatusMessages,
  useStoreOr,
  useThoughts,
} from './use-chat.tsx'
import { useSSE } from './use-sse.ts'

export interface ChatStreamOptions {
  /** The agent, which ADK calls the app. */
  readonly appName: string
  readonly sessionId: string
  readonly userId?: string
  /** The address of the server, without a trailing slash. Default: '', the origin of the page. */
  readonly baseUrl?: string
  readonly headers?: RequestHeaders
  /** False: every event comes whole, without the tokens of a message before it. Default: true. */
  readonly streaming?: boolean
  readonly store?: ChatStore
  /** Fetch, clock and timers. Default: those of the page. */
  readonly host?: Host
}

export interface ChatStream {
  readonly messages: DerivedMessage[]
  readonly thoughts: Record<string, string>
  readonly agentTransitions: AgentTransition[]
  readonly agentStatus: Record<string, 'active' | 'idle'>
  readonly statusMessages: DerivedMessage[]
  readonly status: SSEStatus
  readonly isStreaming: boolean
  readonly error: Error | undefined
  /** Adds the message to the store and runs the agent. The first message creates the session. */
  readonly sendMessage: (text: string) => Promise<void>
  /** Cancels the run on the server. */
  readonly stop: () => Promise<void>
}

interface AdkSession {
  readonly id: string
  readonly events: readonly AdkEvent[]
}

/**
 * A chat over `/run_sse`: the events go into a store, and what they add up to comes out. What the session already has on
 * the server is loaded on mount, so that a reload shows the whole conversation, the user's messages included.
 */
export function useChatStream(options: ChatStreamOptions): ChatStream {
  const { appName, sessionId, userId = 'user', baseUrl = '', streaming = true, headers, host } = options
  const store = useStoreOr(options.store)
  const [failed, setFailed] = useState<Error>()
  const { connect, close, status, error } = useSSE({
    canonical: true,
    onMessage: ({ rawEvent }) => store.getState().addRawEvent(sessionId, rawEvent),
    ...defined({ headers, host }),
  })
  const client = createClient(defined({ baseUrl, headers, host }))
  const sessions = `apps/${encodeURIComponent(appName)}/users/${encodeURIComponent(userId)}/sessions`
  /** Resolves with whether the server has the session, after its events are in the store. */
  const load = async (): Promise<boolean> => {
    // A GET of a session that is not there yet would be an error in the browser's console.
    const all = (await client.request(sessions)) as readonly AdkSession[]
    if (!all.some(({ id }) => id === sessionId)) return false
    if (store.getState().getRawEvents(sessionId).length > 0) return true
    const { events } = (await client.request(`${sessions}/${encodeURIComponent(sessionId)}`)) as AdkSession
    for (const event of events) store.getState().addRawEvent(sessionId, event)
    return true
  }
  const loading = useRef<Promise<boolean> | undefined>(undefined)
  const latestLoad = useRef(load)
  latestLoad.current = load
  const place = `${baseUrl}/${sessions}/${sessionId}`
  // biome-ignore lint/correctness/useExhaustiveDependencies: another session, and nothing else, is loaded anew
  useEffect(() => {
    const loaded = latestLoad.current()
    loading.current = loaded
    loaded.then(
      () => setFailed(undefined),
      (reason: Error) => loading.current === loaded && setFailed(reason),
    )
    return () => {
      loading.current = undefined
      close()
    }
  }, [place])

  const sendMessage = async (text: string): Promise<void> => {
    setFailed(undefined)
    try {
      const known = await (loading.current ?? load()).catch(load)
      store.getState().addUserMessage(sessionId, text)
      if (!known) await client.request(sessions, { method: 'POST', body: { sessionId } })
      loading.current = Promise.resolve(true)
    } catch (reason) {
      setFailed(reason instanceof Error ? reason : new StreamError('failed', 'agent-error', String(reason)))
      return
    }
    const newMessage = { role: 'user', parts: [{ text }] }
    connect(`${baseUrl}/run_sse`, { appName, userId, sessionId, newMessage, streaming })
  }
  return {
    messages: useDerivedMessages(sessionId, store),
    thoughts: useThoughts(sessionId, store),
    agentTransitions: useAgentTransitions(sessionId, store),
    agentStatus: useAgentStatus(sessionId, store),
    statusMessages: useStatusMessages(sessionId, store),
    status,
    isStreaming: status === 'connecting' || status === 'open' || status === 'waiting',
    error: error ?? failed,
    sendMessage,
    stop: () => client.cancel(sessionId),
  }
}
