// Code in the types of the documents, over our functions: what goes in is theirs, what comes out fits theirs.
import {
  type AdkPart,
  type AgentTransition,
  normalizeAdkEvent,
  normalizeSseBlock,
  parseAdkEvent,
  type Recorded,
  readRecording,
  selectAgentTransitions,
  selectDerivedMessages,
  selectLatestAgentStatus,
  selectThoughtProcesses,
  type TraceEvent,
  type TraceEventV2,
} from '@millrace/core'
import type { ChatStreamState, UseSSEReturn } from '@millrace/react'
import type * as documented from './documented-types.ts'

export function parsed(event: documented.AdkEvent): documented.ParsedAdkEvent {
  return normalizeAdkEvent(event)
}

export function parsedData(data: string, eventType?: string): documented.ParsedAdkEvent | null {
  return parseAdkEvent(data, eventType)
}

export function normalized(block: documented.SseEventBlock): documented.NormalizeResult {
  return normalizeSseBlock(block)
}

/** The calls of an event by id, with their arguments: both are always there. */
export function callsById(event: documented.AdkEvent): Map<string, Record<string, unknown>> {
  const calls: documented.AdkFunctionCall[] = normalizeAdkEvent(event).functionCalls
  return new Map(calls.map(({ id, args }) => [id, args]))
}

export function selected(session: documented.ChatSession) {
  const messages: documented.DerivedMessage[] = selectDerivedMessages(session)
  const thoughts: Record<string, string> = selectThoughtProcesses(session)
  const transitions: documented.AgentTransition[] = selectAgentTransitions(session)
  const status: Record<string, 'active' | 'idle'> = selectLatestAgentStatus(session)
  return { messages, thoughts, transitions, status }
}

/** The store's actions, as the document lists them. */
export interface DocumentedStore {
  addRawEvent: (sessionId: string, event: documented.AdkEvent) => void
  getDerivedMessages: (sessionId: string) => documented.DerivedMessage[]
}

export function stored(store: ChatStreamState, events: documented.AdkEvent[]): documented.DerivedMessage[] {
  const { addRawEvent, getDerivedMessages }: DocumentedStore = store
  for (const event of events) addRawEvent('s', event)
  const history: AgentTransition[] = store.sessions.s?.agentTransitionHistory ?? []
  if (history.length > events.length) throw new Error('more transitions than events')
  return getDerivedMessages('s')
}

/** The lists of an event are arrays of the front end, which may change them: so the document has them. */
export function partsOf(event: documented.AdkEvent, store: ChatStreamState): { parts: AdkPart[]; waiting: string[] } {
  const { content, longRunningToolIds } = normalizeAdkEvent(event).rawEvent
  return {
    parts: content?.parts ?? store.sessions.s?.rawEvents.at(-1)?.content?.parts ?? [],
    waiting: longRunningToolIds ?? [],
  }
}

export const asDocumented = <T>(sse: UseSSEReturn<T>): documented.UseSSEReturn => sse

export function keysOf(trace: TraceEvent): string[] {
  const event: documented.TraceEvent = trace
  const second: TraceEventV2 = trace
  return second.state_keys ?? Object.keys(event.state_snapshot?.output ?? {})
}

/** A recording that was read from a file is bytes. */
export async function rowsOf(bytes: Uint8Array): Promise<Recorded[]> {
  const rows: Recorded[] = []
  for await (const row of readRecording(bytes, { run: 'r', now: () => 0 })) rows.push(row)
  return rows
}
