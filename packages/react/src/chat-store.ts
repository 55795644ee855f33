import {
  type AdkChatEvent,
  type ChatSession,
  Derivation,
  type DerivedMessage,
  derivedBy,
  type RawAdkEvent,
  selectDerivedMessages,
} from '@millrace/core'
import { create, type StoreApi, type UseBoundStore } from 'zustand'
import { EventWindow } from './event-window.ts'
import { pageHost } from './page-host.ts'

/** Canonical ADK events by session, and what is derived from them. */
export interface ChatState {
  readonly sessions: Readonly<Record<string, ChatSession>>
  /** Adds an ADK event (JavaScript or Python form) as it came off the wire. The first event creates the session. */
  readonly addRawEvent: (sessionId: string, event: RawAdkEvent) => void
  /**
   * Adds what the user wrote, as an ADK event of the author `user`, and returns that event: a stream of answers does not
   * repeat the question.
   */
  readonly addUserMessage: (sessionId: string, text: string) => AdkChatEvent
  /** The newest events, oldest first. */
  readonly getRawEvents: (sessionId: string) => AdkChatEvent[]
  /** The messages of a session, including those whose events have been dropped. */
  readonly getDerivedMessages: (sessionId: string) => DerivedMessage[]
  /** Removes one session, or all sessions. */
  readonly clear: (sessionId?: string) => void
}

export interface ChatStoreOptions {
  /** How many raw events a session keeps. Messages derived from dropped events stay. */
  readonly maxRawEvents?: number
}

/** The name that chat front ends know it by (docs/requirements.md, R3). */
export type ChatStreamState = ChatState

/** A zustand store: a hook (`const messages = useChat((state) => …)`) with `useChat.getState()`. */
export type ChatStore = UseBoundStore<StoreApi<ChatState>>

interface StoredSession {
  readonly derivation: Derivation
  events: EventWindow<AdkChatEvent>
}

/** Create one per page. On a server create one per request, because it holds what users wrote. */
export function createChatStore({ maxRawEvents = 1000 }: ChatStoreOptions = {}): ChatStore {
  const all = new Map<string, StoredSession>()
  const storedFor = (id: string): StoredSession => {
    const known = all.get(id)
    if (known !== undefined) return known
    const made: StoredSession = { derivation: new Derivation(id), events: EventWindow.of(maxRawEvents) }
    all.set(id, made)
    return made
  }
  return create<ChatState>()((set, get) => ({
    sessions: {},
    addRawEvent(id, raw) {
      // The derivation reads either flavour; for the type, the store's users take what they put in.
      const event = raw as AdkChatEvent
      const stored = storedFor(id)
      stored.events = stored.events.append(event)
      stored.derivation.take(event)
      const session = sessionOf(id, stored, event)
      set(({ sessions }) => ({ sessions: { ...sessions, [id]: session } }))
    },
    addUserMessage(id, text) {
      const { now, random } = pageHost()
      const event: AdkChatEvent = {
        id: `user-${now().toString(36)}-${random().toString(36).slice(2, 12)}`,
        author: 'user',
        invocationId: '',
        timestamp: now(),
        content: { role: 'user', parts: [{ text }] },
      }
      get().addRawEvent(id, event)
      return event
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

/** Users choose the ids, so an id may be `constructor`. */
export function sessionIn({ sessions }: ChatState, id: string): ChatSession | undefined {
  return Object.hasOwn(sessions, id) ? sessions[id] : undefined
}

/** One shared empty array, which cannot be changed: a new one for every call would look like a change. */
const none = Object.freeze([] as never[]) as never[]

/** An immutable snapshot of a session. Its arrays are built on first access. */
function sessionOf(id: string, { events, derivation }: StoredSession, last: AdkChatEvent | null): ChatSession {
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
