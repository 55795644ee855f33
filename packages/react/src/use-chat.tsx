import {
  type AgentTransition,
  type ChatSession,
  type DerivedMessage,
  selectAgentTransitions,
  selectDerivedMessages,
  selectLatestAgentStatus,
  selectStatusMessages,
  selectThoughtProcesses,
} from '@millrace/core'
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react'
import { type ChatStore, sessionIn } from './chat-store.ts'
import { useChatStore } from './page-store.ts'

const StoreContext = createContext<ChatStore | undefined>(undefined)

/** Provides the store that the hooks in the components below use, instead of the one of the page. */
export function ChatStoreProvider({ store, children }: { readonly store: ChatStore; readonly children: ReactNode }) {
  return <StoreContext.Provider value={store}>{children}</StoreContext.Provider>
}

/** The messages of a session. An unchanged message stays the same object, so memoised rows do not render again. */
export function useDerivedMessages(sessionId: string, store?: ChatStore): DerivedMessage[] {
  return useDerived(sessionId, store, selectDerivedMessages, noMessages)
}

/** Thoughts by event id. */
export function useThoughts(sessionId: string, store?: ChatStore): Record<string, string> {
  return useDerived(sessionId, store, selectThoughtProcesses, noThoughts)
}

/** The transfers from one agent to another. */
export function useAgentTransitions(sessionId: string, store?: ChatStore): AgentTransition[] {
  return useDerived(sessionId, store, selectAgentTransitions, noTransitions)
}

/** Whether each agent that has taken part is active. */
export function useAgentStatus(sessionId: string, store?: ChatStore): Record<string, 'active' | 'idle'> {
  return useDerived(sessionId, store, selectLatestAgentStatus, noStatus)
}

/** Function responses and transfers as messages, for a line that says what the agents are doing. */
export function useStatusMessages(sessionId: string, store?: ChatStore): DerivedMessage[] {
  return useDerived(sessionId, store, selectStatusMessages, noMessages)
}

/** The given store, else the one provided, else the one of the page. */
export function useStoreOr(given: ChatStore | undefined): ChatStore {
  const provided = useContext(StoreContext)
  return given ?? provided ?? useChatStore
}

// One shared empty value each: a new one for every call would look like a change.
const noMessages: DerivedMessage[] = []
const noTransitions: AgentTransition[] = []
const noThoughts: Record<string, string> = {}
const noStatus: Record<string, 'active' | 'idle'> = {}

/** The selectors return the same reference until an event changes it, so no comparison is needed. */
function useDerived<T>(
  sessionId: string,
  given: ChatStore | undefined,
  select: (session: ChatSession) => T,
  absent: T,
): T {
  const store = useStoreOr(given)
  const read = (): T => {
    const session = sessionIn(store.getState(), sessionId)
    return session === undefined ? absent : select(session)
  }
  // Not zustand's own hook: on a server it renders the initial state of the store, without what was added since. For the
  // store of the page that is right, because on a server all users would share it.
  return useSyncExternalStore(store.subscribe, read, store === useChatStore ? () => absent : read)
}
