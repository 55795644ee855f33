import {
  type AdkEvent,
  selectAgentTransitions,
  selectDerivedMessages,
  selectLatestAgentStatus,
  selectThoughtProcesses,
} from '@millrace/core'
import { type ChatStore, createChatStore } from '@millrace/react'
import { best, heapOf, timed } from './kit/measure.ts'
import type { Row } from './kit/row.ts'

/** The chat store: what deriving costs, and what appending costs when the store has grown. */
export async function bench(): Promise<Row[]> {
  const events = conversation(1000)
  return [derivation(events), memory(events), growth()]
}

function derivation(events: readonly AdkEvent[]): Row {
  const ours = best(() => derived(filled(events)), 100)
  const peer = best(() => documentedMessages(events), 100)
  return {
    what: 'chat store: 1,000 events in, all four selectors out, ms',
    ours,
    peer: 'the documented selectDerivedMessages, once',
    peerValue: peer,
    limit: 'reading each event once',
    ratio: ours / peer,
    bar: '<= 5 ms',
    ok: ours <= 5,
  }
}

function memory(events: readonly AdkEvent[]): Row {
  const ours = heapOf(() => {
    const store = filled(events)
    derived(store)
    return store
  })
  const peer = heapOf(() => documentedMessages(events))
  return {
    what: 'chat store: what it keeps of 1,000 events beside the events, MB',
    ours,
    peer: 'the documented messages',
    peerValue: peer,
    limit: 'the text itself',
    ratio: ours / peer,
    bar: '<= 2 MB',
    ok: ours <= 2,
  }
}

/** The 100,000th event against the first ones; the messages are read after each. The documented store copies 1,000 events and derives all messages. */
function growth(): Row {
  const events = conversation(104_000)
  filled(events.slice(0, 50_000))
  const store = createChatStore()
  let at = 0
  const append = (count: number): number =>
    timed(() => {
      for (const end = at + count; at < end; at++) {
        store.getState().addRawEvent('s', events[at] as AdkEvent)
        store.getState().getDerivedMessages('s')
      }
    })
  append(1000)
  const early = Math.min(append(1000), append(1000), append(1000))
  append(96_000)
  const late = Math.min(append(1000), append(1000), append(1000))
  return {
    what: 'chat store: us to append an event and read the messages, at 100,000 events',
    ours: late,
    peer: 'ours at 1,000 events',
    peerValue: early,
    limit: 'no growth, 1.0x',
    ratio: late / early,
    bar: '<= 3',
    ok: late / early <= 3,
  }
}

function filled(events: readonly AdkEvent[]): ChatStore {
  const store = createChatStore()
  for (const event of events) store.getState().addRawEvent('s', event)
  return store
}

function derived(store: ChatStore): unknown {
  const session = store.getState().sessions.s
  if (session === undefined) throw new Error('no session')
  return [
    selectDerivedMessages(session),
    selectThoughtProcesses(session),
    selectAgentTransitions(session),
    selectLatestAgentStatus(session),
  ]
}

/** As the chat front-end document writes it. */
function documentedMessages(events: readonly AdkEvent[]): unknown {
  return events.flatMap((event) =>
    (event.content?.parts ?? [])
      .filter((part) => part.text !== undefined && part.thought !== true)
      .map((part) => ({
        id: `msg_${event.id}_${part.text?.slice(0, 10)}`,
        content: part.text,
        role: event.author === 'user' ? 'user' : 'assistant',
        timestamp: new Date(event.timestamp).toISOString(),
        sourceEventIds: [event.id],
        metadata: { author: event.author, invocationId: event.invocationId },
      })),
  )
}

/** Three agents in turn, 40 tokens a message of which 5 are thoughts, then the whole of it. */
function conversation(count: number): readonly AdkEvent[] {
  return Array.from({ length: count }, (_, i) => {
    const token = i % 41
    const turn = Math.floor(i / 41)
    const words = (from: number, to: number): string =>
      Array.from({ length: to - from }, (_word, at) => `word${from + at} `).join('')
    const parts =
      token < 40
        ? [{ text: `word${token} `, ...(token < 5 ? { thought: true } : {}) }]
        : [{ text: words(0, 5), thought: true }, { text: words(5, 40) }]
    return {
      id: `event-${i}`,
      author: `agent_${turn % 3}`,
      invocationId: `e-${Math.floor(turn / 3)}`,
      timestamp: 1.7e12 + i,
      content: { role: 'model', parts },
      ...(token < 40 ? { partial: true } : {}),
    }
  })
}
