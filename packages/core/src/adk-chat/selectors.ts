import type { AdkEvent } from '../event/adk-event.ts'
import type { JsonObject } from '../json/json.ts'
import { derivationOf } from './derivation.ts'

// Seed 003's selectors by name, for front ends that keep ADK events in a store of their own (its sections 3.3 and 4.3,
// appendix B), with its errata put right (DESIGN 12): text is not doubled, timestamps are right for both flavours of
// ADK, ids are stable while a message streams, transfers are found, and an agent is idle by ADK's own rule.

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
    /** For a function's answer: which, to which call, and what it said. */
    readonly functionName?: string
    readonly functionCallId?: string
    readonly response?: JsonObject
  }
}

export interface DerivedMessage extends ChatMessage {
  /** Every event that it came from: the partials, then the aggregate. */
  readonly sourceEventIds: readonly string[]
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
  readonly rawEvents: readonly AdkEvent[]
  readonly lastProcessedEventId?: string
  readonly agentTransitionHistory: readonly AgentTransition[]
}

/**
 * What was said, one message per message: partials grow it, the aggregate replaces them. The same array while the
 * events are the same, and a message that did not change is the same object, so `useShallow` sees what changed.
 */
export const selectDerivedMessages = (session: ChatSession): DerivedMessage[] => derivationOf(session).messages()

/** Thoughts by event id: for a streamed message that of its first event, so that the key stays while it grows. */
export const selectThoughtProcesses = (session: ChatSession): Record<string, string> => derivationOf(session).thoughts()

/** Who handed over to whom. */
export const selectAgentTransitions = (session: ChatSession): AgentTransition[] => derivationOf(session).transitions()

/** Whether each agent that has spoken is at work. One that gave its final response, failed or handed over is idle. */
export const selectLatestAgentStatus = (session: ChatSession): Record<string, 'active' | 'idle'> =>
  derivationOf(session).status()

/** What functions answered, and who handed over to whom, as messages: seed 003's status updates. */
export const selectStatusMessages = (session: ChatSession): DerivedMessage[] => derivationOf(session).updates()
