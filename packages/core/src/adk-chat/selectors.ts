import type { AdkContent, AdkEvent, AdkPart } from '../event/adk-event.ts'
import type { JsonObject } from '../json/json.ts'
import { derivationOf } from './derivation.ts'

// The selectors of the chat front end (docs/requirements.md, R3), under its names, for front ends that keep ADK events
// in their own store. They correct the errors of the original (docs/decisions/006-errata.md): text is not doubled,
// timestamps are right for both flavours of ADK, ids are stable while a message streams, transfers are found, and ADK's
// own rule decides when an agent is idle.

export interface ChatMessage {
  /** `msg_` and the message id: the same from the first partial to the aggregate. */
  readonly id: string
  readonly content: string
  readonly role: 'user' | 'assistant' | 'system'
  /** ISO 8601. */
  readonly timestamp: string
  readonly sessionId: string
  readonly metadata: {
    readonly author: string
    readonly invocationId: string
    /** For a function response: the function, the call and the response. */
    readonly functionName?: string
    readonly functionCallId?: string
    readonly response?: JsonObject
  }
}

export interface DerivedMessage extends ChatMessage {
  /** The events that it was derived from: the partials, then the aggregate. */
  readonly sourceEventIds: string[]
  readonly derivedFrom: 'text' | 'functionResponse' | 'agentStatus'
}

export interface AgentTransition {
  readonly fromAgent: string
  readonly toAgent: string
  readonly eventId: string
  /** ISO 8601. */
  readonly timestamp: string
}

export interface ChatSession {
  readonly id: string
  /** ADK events as they came off the wire, of either flavour, in order. */
  readonly rawEvents: AdkChatEvent[]
  readonly lastProcessedEventId?: string
  readonly agentTransitionHistory: AgentTransition[]
}

/** An ADK event as a chat front end has it: its lists are the front end's own, so their types let it change them. */
export interface AdkChatEvent extends AdkEvent {
  readonly content?: AdkChatContent
  readonly longRunningToolIds?: string[]
}
export interface AdkChatContent extends AdkContent {
  readonly parts?: AdkPart[]
}

/** An ADK event of either flavour as a front end may hold it: as `AdkEvent`, or in a type of its own. */
export type RawAdkEvent = AdkEvent | OwnAdkEvent

interface OwnAdkEvent {
  readonly id: string
  readonly author: string
  readonly content?: { readonly role?: string; readonly parts?: readonly object[] } | undefined
  readonly actions?: object | undefined
  readonly partial?: boolean | undefined
}

/** What the selectors read of a session. A `ChatSession` fits, and so does a session of the front end's own type. */
export interface SessionEvents {
  readonly id: string
  readonly rawEvents: readonly RawAdkEvent[]
}

/**
 * The messages of a session: partials extend a message, the aggregate replaces them. The same array while the events are
 * the same, and the same object for a message that did not change, so that `useShallow` sees what changed.
 */
export const selectDerivedMessages = (session: SessionEvents): DerivedMessage[] => derivationOf(session).messages()

/** Thoughts by event id; for a streamed message the id of its first event, so that the key stays the same. */
export const selectThoughtProcesses = (session: SessionEvents): Record<string, string> =>
  derivationOf(session).thoughts()

/** The transfers of control from one agent to another. */
export const selectAgentTransitions = (session: SessionEvents): AgentTransition[] => derivationOf(session).transitions()

/** Whether each agent is at work. An agent that gave its final response, failed or transferred control is idle. */
export const selectLatestAgentStatus = (session: SessionEvents): Record<string, 'active' | 'idle'> =>
  derivationOf(session).status()

/** Status updates: function responses and transfers of control as messages. */
export const selectStatusMessages = (session: SessionEvents): DerivedMessage[] => derivationOf(session).updates()
