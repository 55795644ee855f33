import {
  type AdkEvent,
  type ChatSession,
  Derivation,
  type DerivedMessage,
  derivedBy,
  selectDerivedMessages,
} from '@millrace/core'
import { create, type StoreApi, type UseBoundStore } from 'zustand'
import { EventWindow } from './event-window.ts'

/** Seed 003's store: canonical events by session, and what is derived from them. */
export interface ChatState {
  readonly sessions: Readonly<Record<string, ChatSession>>
  /** Takes an ADK event of either flavour, as it came off the wire; a session begins with its first. */
  readonly addRawEvent: (sessionId: string, event: AdkEvent) => void
  /** The newest events, oldest first. */
  readonly getRawEvents: (sessionId: string) => readonly AdkEvent[]
  /** What was said; also by events that are no longer kept. */
  readonly getDerivedMessages: (sessionId: string) => readonly DerivedMessage[]
  /** Forgets a session, or all of them. */
  readonly clear: (sessionId?: string) => void
}

export interface ChatStoreOptions {
  /** How many events a session keeps. What was derived from the others stays. */
  readonly maxRawEvents?: number
}

/** A hook (`const messages = useChat((state) => …)`) and a store (`useChat.getState()`), as zustand makes them. */
export type ChatStore = UseBoundStore<StoreApi<ChatState>>

interface Kept {
  readonly derivation: Derivation
  events: EventWindow<AdkEvent>
}

/** Make one per page; on a server one per request, for it holds what users said. */
export function createChatStore({ maxRawEvents = 1000 }: ChatStoreOptions = {}): ChatStore {
  const all = new Map<string, Kept>()
  const keptFor = (id: string): Kept => {
    const known = all.get(id)
    if (known !== undefined) return known
    const made: Kept = { derivation: new Derivation(id), events: EventWindow.of(maxRawEvents) }
    all.set(id, made)
    return made
  }
  return create<ChatState>()((set, get) => ({
    sessions: {},
    addRawEvent(id, event) {
      const kept = keptFor(id)
      kept.events = kept.events.append(event)
      kept.derivation.take(event)
      const session = sessionOf(id, kept, event)
      set(({ sessions }) => ({ sessions: { ...sessions, [id]: session } }))
    },
    getRawEvents: (id) => sessionIn(get(), id)?.rawEvents ?? none,
    getDerivedMessages(id) {
      const session = sessionIn(get(), id)
      return session === undefined ? none : selectDerivedMessages(session)
    },
    clear(id) {
      if (id === undefined) all.clear()
      else all.delete(id)
      set(({ sessions }) => {
        const { [id ?? '']: _gone, ...rest } = sessions
        return { sessions: id === undefined ? {} : rest }
      })
    },
  }))
}

/** Ids are the users': one may be called `constructor`. */
export function sessionIn({ sessions }: ChatState, id: string): ChatSession | undefined {
  return Object.hasOwn(sessions, id) ? sessions[id] : undefined
}

/** One array for every answer that has nothing in it: a new one each time would look like a change. */
const none: readonly never[] = []

/** A session as it is now. Its arrays are made when somebody reads them, and once. */
function sessionOf(id: string, { events, derivation }: Kept, last: AdkEvent | null): ChatSession {
  const transitions = derivation.transitions()
  return derivedBy(
    {
      id,
      get rawEvents() {
        return events.toArray()
      },
      agentTransitionHistory: transitions,
      ...(typeof last?.id === 'string' ? { lastProcessedEventId: last.id } : {}),
    },
    derivation,
  )
}
