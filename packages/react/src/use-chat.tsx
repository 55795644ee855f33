import {
  type AgentTransition,
  type ChatSession,
  type DerivedMessage,
  selectAgentTransitions,
  selectDerivedMessages,
  selectLatestAgentStatus,
  selectThoughtProcesses,
} from '@millrace/core'
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react'
import { type ChatStore, sessionIn } from './chat-store.ts'

const StoreContext = createContext<ChatStore | undefined>(undefined)

/** Provides the store that the hooks in the components below use. */
export function ChatStoreProvider({ store, children }: { readonly store: ChatStore; readonly children: ReactNode }) {
  return <StoreContext.Provider value={store}>{children}</StoreContext.Provider>
}

/** The messages of a session. An unchanged message stays the same object, so memoised rows do not render again. */
export function useDerivedMessages(sessionId: string, store?: ChatStore): readonly DerivedMessage[] {
  return useDerived(sessionId, store, selectDerivedMessages, noMessages)
}

/** Thoughts by event id. */
export function useThoughts(sessionId: string, store?: ChatStore): Readonly<Record<string, string>> {
  return useDerived(sessionId, store, selectThoughtProcesses, noThoughts)
}

/** The transfers from one agent to another. */
export function useAgentTransitions(sessionId: string, store?: ChatStore): readonly AgentTransition[] {
  return useDerived(sessionId, store, selectAgentTransitions, noTransitions)
}

/** Whether each agent that has taken part is active. */
export function useAgentStatus(sessionId: string, store?: ChatStore): Readonly<Record<string, 'active' | 'idle'>> {
  return useDerived(sessionId, store, selectLatestAgentStatus, noStatus)
}

const noMessages: readonly DerivedMessage[] = []
const noTransitions: readonly AgentTransition[] = []
const noThoughts: Readonly<Record<string, string>> = {}
const noStatus: Readonly<Record<string, 'active' | 'idle'>> = {}

/** The selectors return the same reference until an event changes it, so no comparison is needed. */
function useDerived<T>(
  sessionId: string,
  given: ChatStore | undefined,
  select: (session: ChatSession) => T,
  absent: T,
): T {
  const provided = useContext(StoreContext)
  const store = given ?? provided
  if (store === undefined) {
    throw new Error('no chat store: pass one, or render this component inside <ChatStoreProvider store={…}>')
  }
  const read = (): T => {
    const session = sessionIn(store.getState(), sessionId)
    return session === undefined ? absent : select(session)
  }
  // Not zustand's own hook: on a server it renders the initial state of the store, without what was added since.
  return useSyncExternalStore(store.subscribe, read, read)
}
