import {
  type AdkEvent,
  normalizeAdkEvent,
  selectAgentTransitions,
  selectDerivedMessages,
  selectLatestAgentStatus,
  selectThoughtProcesses,
} from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { createChatStore } from './chat-store.ts'

const seconds = 1_760_000_000
const adkEvent = (id: string, author: string, parts: object[], more: object = {}): AdkEvent =>
  ({ id, author, invocationId: 'inv_456', timestamp: seconds, content: { parts }, ...more }) as AdkEvent

/** The three example events of the front-end requirements (docs/requirements.md, R3). */
const examples = {
  text: adkEvent('evt_123', 'plan_generator', [
    { text: 'Hello from agent' },
    { text: 'This is a thought', thought: true },
  ]),
  response: adkEvent('evt_789', 'section_researcher', [
    {
      functionResponse: { name: 'web_search', response: { results: ['result1', 'result2'] }, id: 'fn_123' },
    },
  ]),
  transfer: {
    id: 'evt_transfer',
    author: 'dispatcher',
    invocationId: 'inv_789',
    timestamp: seconds,
    actions: { transfer_to_agent: 'section_researcher' },
  } as AdkEvent,
}

describe('ADK Event Parser', () => {
  test('should parse text content from content.parts[]', () => {
    const parsed = normalizeAdkEvent(examples.text)
    expect(parsed.textParts).toEqual(['Hello from agent'])
    expect(parsed.thoughtParts).toEqual(['This is a thought'])
  })

  test('should extract function responses', () => {
    const parsed = normalizeAdkEvent(examples.response)
    expect(parsed.functionResponses).toHaveLength(1)
    expect(parsed.functionResponses[0]?.name).toBe('web_search')
  })

  test('should detect agent transfers', () => {
    const parsed = normalizeAdkEvent(examples.transfer)
    expect(parsed.isAgentTransfer).toBe(true)
    expect(parsed.transferTargetAgent).toBe('section_researcher')
  })
})

describe('the chat store', () => {
  test.each(['constructor', '__proto__'])('a session may be called %s', (id) => {
    const { addRawEvent, getRawEvents, getDerivedMessages } = createChatStore().getState()
    expect([getRawEvents(id), getDerivedMessages(id)]).toEqual([[], []])
    addRawEvent(id, examples.text)
    expect([getRawEvents(id).length, getDerivedMessages(id).length]).toEqual([1, 1])
  })

  test('the example events give the expected events, messages, thoughts, transitions and status', () => {
    const store = createChatStore()
    const { addRawEvent, getRawEvents, getDerivedMessages } = store.getState()
    for (const event of [examples.text, examples.response, examples.transfer]) addRawEvent('s', event)
    const session = store.getState().sessions.s
    if (session === undefined) throw new Error('no session')

    expect(getRawEvents('s')).toEqual([examples.text, examples.response, examples.transfer])
    expect(session.rawEvents).toBe(getRawEvents('s'))
    expect(session.lastProcessedEventId).toBe('evt_transfer')
    expect(getDerivedMessages('s')).toEqual([
      {
        id: 'msg_evt_123',
        content: 'Hello from agent',
        role: 'assistant',
        timestamp: new Date(seconds * 1000).toISOString(),
        sessionId: 's',
        sourceEventIds: ['evt_123'],
        derivedFrom: 'text',
        metadata: { author: 'plan_generator', invocationId: 'inv_456' },
      },
    ])
    expect(selectDerivedMessages(session)).toBe(getDerivedMessages('s'))
    expect(selectThoughtProcesses(session)).toEqual({ evt_123: 'This is a thought' })
    const transition = {
      fromAgent: 'dispatcher',
      toAgent: 'section_researcher',
      eventId: 'evt_transfer',
      timestamp: new Date(seconds * 1000).toISOString(),
    }
    expect(selectAgentTransitions(session)).toEqual([transition])
    expect(session.agentTransitionHistory).toEqual([transition])
    expect(selectLatestAgentStatus(session)).toEqual({
      plan_generator: 'idle',
      section_researcher: 'active',
      dispatcher: 'idle',
    })
  })

  test('a streamed message grows, the aggregate replaces it, and other messages stay the same objects', () => {
    const { addRawEvent, getDerivedMessages } = createChatStore().getState()
    addRawEvent('s', adkEvent('u', 'user', [{ text: 'Hi' }]))
    const [question] = getDerivedMessages('s')
    const contents = ['Hel', 'lo ', 'you'].map((text, i) => {
      addRawEvent('s', adkEvent(`p${i}`, 'writer', [{ text }], { partial: true }))
      return getDerivedMessages('s').at(-1)?.content
    })
    expect(contents).toEqual(['Hel', 'Hello ', 'Hello you'])
    addRawEvent('s', adkEvent('whole', 'writer', [{ text: 'Hello you' }]))
    expect(getDerivedMessages('s').map(({ content, role }) => [role, content])).toEqual([
      ['user', 'Hi'],
      ['assistant', 'Hello you'],
    ])
    expect(getDerivedMessages('s')[0]).toBe(question)
    expect(getDerivedMessages('s')[1]?.sourceEventIds).toEqual(['p0', 'p1', 'p2', 'whole'])
  })

  test('the number of raw events is limited, the number of messages is not', () => {
    const { addRawEvent, getRawEvents, getDerivedMessages } = createChatStore().getState()
    for (let i = 0; i < 2500; i++) addRawEvent('s', adkEvent(`e${i}`, 'writer', [{ text: `${i}` }]))
    expect(getRawEvents('s').map(({ id }) => id)).toEqual(Array.from({ length: 1000 }, (_, i) => `e${1500 + i}`))
    expect(getDerivedMessages('s')).toHaveLength(2500)
    const few = createChatStore({ maxRawEvents: 2 }).getState()
    for (const id of ['a', 'b', 'c']) few.addRawEvent('s', adkEvent(id, 'writer', [{ text: id }]))
    expect(few.getRawEvents('s').map(({ id }) => id)).toEqual(['b', 'c'])
  })

  test('an earlier session object still shows the earlier state', () => {
    const store = createChatStore()
    store.getState().addRawEvent('s', adkEvent('a', 'writer', [{ text: 'one' }]))
    const before = store.getState().sessions.s
    store.getState().addRawEvent('s', adkEvent('b', 'writer', [{ text: 'two' }]))
    if (before === undefined) throw new Error('no session')
    expect(before.rawEvents.map(({ id }) => id)).toEqual(['a'])
    expect(selectDerivedMessages(before).map(({ content }) => content)).toEqual(['one'])
    expect({ ...before }.rawEvents).toEqual(before.rawEvents)
  })

  test('sessions are separate, an unknown session gives the same empty array, and a cleared session is gone', () => {
    const store = createChatStore()
    const { addRawEvent, getRawEvents, getDerivedMessages, clear } = store.getState()
    addRawEvent('a', adkEvent('1', 'x', [{ text: 'in a' }]))
    addRawEvent('b', adkEvent('1', 'x', [{ text: 'in b' }]))
    expect(getDerivedMessages('a').map(({ content }) => content)).toEqual(['in a'])
    expect(getRawEvents('none')).toBe(getRawEvents('none'))
    expect(getDerivedMessages('none')).toEqual([])
    clear('a')
    expect(Object.keys(store.getState().sessions)).toEqual(['b'])
    clear()
    expect(store.getState().sessions).toEqual({})
  })

  test('a value that is not an ADK event is stored as it is and gives no message', () => {
    const { addRawEvent, getRawEvents, getDerivedMessages } = createChatStore().getState()
    addRawEvent('s', null as unknown as AdkEvent)
    addRawEvent('s', { content: 7 } as unknown as AdkEvent)
    expect(getRawEvents('s')).toHaveLength(2)
    expect(getDerivedMessages('s')).toEqual([])
  })

  test.each([
    ['messages of 40 tokens', 40],
    ['one message', 1_000_000],
  ])('the 100,000th event costs what the first ones did: %s', (_, length) => {
    const { addRawEvent, getDerivedMessages } = createChatStore().getState()
    let events = 0
    const append = (count: number): number => {
      // Processor time: on a busy machine, time on the clock belongs to others too.
      const before = process.cpuUsage()
      for (let i = 0; i < count; i++) {
        const author = `agent${Math.floor(events / length) % 3}`
        const partial = events % length < length - 1
        addRawEvent('s', adkEvent(`e${events}`, author, [{ text: 'word ' }], partial ? { partial } : {}))
        events += 1
        getDerivedMessages('s')
      }
      // Linux divides the time between the two by samples, so that one of them alone may be 0.
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    append(2000)
    const early = Math.min(append(1000), append(1000), append(1000))
    append(95_000)
    const late = Math.min(append(1000), append(1000), append(1000))
    expect(getDerivedMessages('s')).toHaveLength(Math.ceil(events / length))
    // Copying 1,000 events, or deriving everything again, for each event makes this 20 and more.
    expect(late / early).toBeLessThan(8)
  })
})
