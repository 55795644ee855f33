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

/** The store for the components below, so that they need not be handed it. */
export function ChatStoreProvider({ store, children }: { readonly store: ChatStore; readonly children: ReactNode }) {
  return <StoreContext.Provider value={store}>{children}</StoreContext.Provider>
}

/** What was said in a session. A message that did not change is the same object: memoised rows render once. */
export function useDerivedMessages(sessionId: string, store?: ChatStore): readonly DerivedMessage[] {
  return useDerived(sessionId, store, selectDerivedMessages, noMessages)
}

/** Thoughts by event id. */
export function useThoughts(sessionId: string, store?: ChatStore): Readonly<Record<string, string>> {
  return useDerived(sessionId, store, selectThoughtProcesses, noThoughts)
}

/** Who handed over to whom. */
export function useAgentTransitions(sessionId: string, store?: ChatStore): readonly AgentTransition[] {
  return useDerived(sessionId, store, selectAgentTransitions, noTransitions)
}

/** Whether each agent that has spoken is at work. */
export function useAgentStatus(sessionId: string, store?: ChatStore): Readonly<Record<string, 'active' | 'idle'>> {
  return useDerived(sessionId, store, selectLatestAgentStatus, noStatus)
}

const noMessages: readonly DerivedMessage[] = []
const noTransitions: readonly AgentTransition[] = []
const noThoughts: Readonly<Record<string, string>> = {}
const noStatus: Readonly<Record<string, 'active' | 'idle'>> = {}

/** The selectors answer with the same reference until an event changes it, so nothing need be compared. */
function useDerived<T>(
  sessionId: string,
  given: ChatStore | undefined,
  select: (session: ChatSession) => T,
  absent: T,
): T {
  const around = useContext(StoreContext)
  const store = given ?? around
  if (store === undefined) throw new Error('hand over a store, or put a <ChatStoreProvider store={…}> above')
  const read = (): T => {
    const session = sessionIn(store.getState(), sessionId)
    return session === undefined ? absent : select(session)
  }
  // Not zustand's own hook: a server would render its store as it was at first, without what was put into it since.
  return useSyncExternalStore(store.subscribe, read, read)
}
