import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chaos, sessions } from '../../../../test/kit/arbitrary-events.ts'
import { isoTime } from './iso-time.ts'
import {
  type AdkChatEvent,
  type ChatSession,
  selectAgentTransitions,
  selectDerivedMessages,
  selectLatestAgentStatus,
  selectStatusMessages,
  selectThoughtProcesses,
} from './selectors.ts'

const session = (rawEvents: readonly unknown[], id = 's'): ChatSession => ({
  id,
  rawEvents: rawEvents as AdkChatEvent[],
  agentTransitionHistory: [],
})
const event = (id: string, parts: readonly unknown[], more: Record<string, unknown> = {}) => ({
  id,
  author: 'plan_generator',
  invocationId: 'inv_456',
  timestamp: 1_760_745_600.5,
  content: { parts },
  ...more,
})
const all = (of: ChatSession) => ({
  messages: selectDerivedMessages(of),
  thoughts: selectThoughtProcesses(of),
  transitions: selectAgentTransitions(of),
  status: selectLatestAgentStatus(of),
  updates: selectStatusMessages(of),
})

describe('R3: the selectors', () => {
  test('messages from text, thoughts apart', () => {
    const raw = [
      event('evt_1', [{ text: 'Research quantum computing' }], { author: 'user' }),
      event('evt_123', [{ text: 'Hello from agent' }, { text: 'This is a thought', thought: true }]),
    ]
    expect(selectDerivedMessages(session(raw))).toEqual([
      {
        id: 'msg_evt_1',
        content: 'Research quantum computing',
        role: 'user',
        timestamp: '2025-10-18T00:00:00.500Z',
        sessionId: 's',
        sourceEventIds: ['evt_1'],
        derivedFrom: 'text',
        metadata: { author: 'user', invocationId: 'inv_456' },
      },
      {
        id: 'msg_evt_123',
        content: 'Hello from agent',
        role: 'assistant',
        timestamp: '2025-10-18T00:00:00.500Z',
        sessionId: 's',
        sourceEventIds: ['evt_123'],
        derivedFrom: 'text',
        metadata: { author: 'plan_generator', invocationId: 'inv_456' },
      },
    ])
    expect(selectThoughtProcesses(session(raw))).toEqual({ evt_123: 'This is a thought' })
  })

  test.each(['transferToAgent', 'transfer_to_agent'])('appendix B: a transfer by %s', (name) => {
    const raw = [
      event('evt_transfer', [], { author: 'dispatcher', actions: { [name]: 'section_researcher' } }),
      event('evt_9', [{ text: 'On it' }], { author: 'section_researcher', partial: true }),
    ]
    expect(selectAgentTransitions(session(raw))).toEqual([
      {
        fromAgent: 'dispatcher',
        toAgent: 'section_researcher',
        eventId: 'evt_transfer',
        timestamp: '2025-10-18T00:00:00.500Z',
      },
    ])
    expect(selectLatestAgentStatus(session(raw))).toEqual({ dispatcher: 'idle', section_researcher: 'active' })
  })

  test("appendix B: status by ADK's own rule; `[]` is no long-running tool, an answer is not final, a failure is the end", () => {
    const statusOf = (...raw: readonly unknown[]) => selectLatestAgentStatus(session(raw)).plan_generator
    const call = event('e1', [{ functionCall: { name: 'web_search', id: 'f1' } }], { longRunningToolIds: [] })
    const answer = event('e2', [{ functionResponse: { name: 'web_search', id: 'f1', response: {} } }])
    expect(statusOf(call)).toBe('active')
    expect(statusOf(call, answer)).toBe('active')
    expect(statusOf(call, answer, event('e3', [{ text: 'Done' }], { longRunningToolIds: [] }))).toBe('idle')
    expect(statusOf(event('e4', [], { errorCode: '500' }))).toBe('idle')
    expect(selectLatestAgentStatus(session([event('e5', [{ text: 'hi' }], { author: 'user' })]))).toEqual({})
  })

  test('function answers and transfers as status updates', () => {
    const raw = [
      event('e1', [{ functionResponse: { name: 'web_search', id: 'fn_123', response: { results: ['a'] } } }]),
      event('e2', [{ functionResponse: { name: 'lookup' } }], { actions: { transferToAgent: 'writer' } }),
    ]
    expect(selectStatusMessages(session(raw))).toMatchObject([
      {
        id: 'fn_fn_123',
        content: 'web_search',
        derivedFrom: 'functionResponse',
        metadata: { functionName: 'web_search', functionCallId: 'fn_123', response: { results: ['a'] } },
      },
      { content: 'lookup', derivedFrom: 'functionResponse' },
      { id: 'transfer_e2', content: 'plan_generator → writer', derivedFrom: 'agentStatus' },
    ])
    expect(selectDerivedMessages(session(raw))).toEqual([])
  })
})

describe('streaming', () => {
  const partial = (id: string, text: string, more: Record<string, unknown> = {}) =>
    event(id, [{ text, ...more }], { partial: true })

  test('text is not doubled, the id stays, and the sources are all there', () => {
    const raw: unknown[] = [partial('p1', 'Hel'), partial('p2', 'lo')]
    expect(selectDerivedMessages(session(raw))).toMatchObject([
      { id: 'msg_p1', content: 'Hello', sourceEventIds: ['p1', 'p2'] },
    ])
    raw.push(event('f', [{ text: 'Hello!' }]))
    expect(selectDerivedMessages(session(raw))).toMatchObject([
      { id: 'msg_p1', content: 'Hello!', sourceEventIds: ['p1', 'p2', 'f'] },
    ])
  })

  test('thoughts stream under one key', () => {
    const raw: unknown[] = [partial('p1', 'Hm', { thought: true }), partial('p2', 'm', { thought: true })]
    expect(selectThoughtProcesses(session(raw))).toEqual({ p1: 'Hmm' })
    raw.push(event('f', [{ text: 'Hmm', thought: true }, { text: 'yes', thought: true }, { text: 'Yes.' }]))
    expect(selectThoughtProcesses(session(raw))).toEqual({ p1: 'Hmm\nyes' })
  })

  test('parallel branches do not mix, and an event sent twice counts once', () => {
    const on = (id: string, text: string, branch: string) => event(id, [{ text }], { partial: true, branch })
    const last = event('f', [{ text: 'ac' }], { branch: 'x' })
    const raw = [on('1', 'a', 'x'), on('2', 'b', 'y'), on('3', 'c', 'x'), last, last]
    expect(selectDerivedMessages(session(raw)).map(({ content }) => content)).toEqual(['ac', 'b'])
  })
})

describe('references', () => {
  test('the same answers while the events are the same; only the message that changed is a new object', () => {
    const raw = [event('1', [{ text: 'a' }]), event('2', [{ text: 'b' }], { partial: true })]
    const first = all(session(raw))
    expect(selectDerivedMessages(session([...raw]))).toBe(first.messages)
    expect(selectAgentTransitions(session(raw))).toBe(first.transitions)
    const next = selectDerivedMessages(session([...raw, event('3', [{ text: 'c' }], { partial: true })]))
    expect(next[0]).toBe(first.messages[0])
    expect(next[1]).not.toBe(first.messages[1])
    expect(first.messages.map(({ content }) => content)).toEqual(['a', 'b'])
    expect(next.map(({ content }) => content)).toEqual(['a', 'bc'])
  })

  test('SPEC 5.1: depends on the events alone: however they grew, were cut, replaced or shared', () => {
    const raw = fc
      .oneof(sessions(), chaos())
      .map((rows) => rows.flatMap(({ event: said }) => (said.kind === 'agent' ? [said.event] : [])))
    fc.assert(
      fc.property(raw, raw, fc.array(fc.nat({ max: 40 }), { maxLength: 5 }), (events, others, cuts) => {
        const fresh = (from: readonly unknown[]) => all(session(structuredClone(from)))
        const growing: object[] = []
        for (const each of events) {
          growing.push(each)
          if (growing.length % 3 === 0) all(session(growing))
        }
        expect(all(session(growing))).toEqual(fresh(events))
        for (const cut of cuts) {
          const window = events.slice(cut)
          expect(all(session(window))).toEqual(fresh(window))
          const spliced = [...events.slice(0, cut), ...others]
          expect(all(session(spliced))).toEqual(fresh(spliced))
        }
        expect(all(session(events, 'other')).messages.every(({ sessionId }) => sessionId === 'other')).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  test('what is no event is passed over', () => {
    expect(selectDerivedMessages(session([null, 7, {}, event('1', [{ text: 'a' }])])).length).toBe(1)
    expect(selectDerivedMessages(session([]))).toEqual([])
  })
})

test('isoTime prints what Date prints, and never throws', () => {
  fc.assert(
    fc.property(fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 }), (ms) => {
      expect(isoTime(ms)).toBe(new Date(ms).toISOString())
    }),
    { numRuns: 1000 },
  )
  for (const ms of [0, -1, 951_782_400_000, 1_709_164_800_000, 1767081391059.711, -62_198_755_200_000]) {
    expect(isoTime(ms)).toBe(new Date(ms).toISOString())
  }
  for (const ms of [Number.NaN, Number.POSITIVE_INFINITY, 1e16]) expect(isoTime(ms)).toBe('1970-01-01T00:00:00.000Z')
})
