import type { AdkEvent, AdkPart } from '@millrace/core'

/** The four selectors as the chat front-end document writes them: each goes over all events. */
export function documentedSelectors(events: readonly AdkEvent[]): unknown {
  const texts = (event: AdkEvent, thought: boolean): AdkPart[] =>
    (event.content?.parts ?? []).filter((part) => part.text !== undefined && (part.thought === true) === thought)
  const iso = (event: AdkEvent): string => new Date(event.timestamp).toISOString()
  const messages = events.flatMap((event) =>
    texts(event, false).map((part) => ({
      id: `msg_${event.id}_${part.text?.slice(0, 10)}`,
      content: part.text,
      role: event.author === 'user' ? 'user' : 'assistant',
      timestamp: iso(event),
      sourceEventIds: [event.id],
      metadata: { author: event.author, invocationId: event.invocationId },
    })),
  )
  const thoughts: Record<string, string> = {}
  for (const event of events) {
    const text = texts(event, true)
      .map((part) => part.text)
      .join('\n')
    if (text !== '') thoughts[event.id] = text
  }
  const transitions = events
    .filter((event) => event.actions?.transferToAgent !== undefined)
    .map((event) => ({ from: event.author, to: event.actions?.transferToAgent, at: iso(event) }))
  const last = new Map<string, AdkEvent>()
  for (const event of events) last.set(event.author, event)
  return { messages, thoughts, transitions, last }
}
