import { describe, expect, test } from 'vitest'
import {
  normalizeAdkEvent,
  normalizeSseBlock,
  type ParsedAdkEvent,
  parseAdkEvent,
  parseEventData,
  parseLegacyEvent,
} from './parser.ts'
import type { AdkChatEvent } from './selectors.ts'

const event = (fields: Partial<AdkChatEvent>): AdkChatEvent => ({
  id: 'evt_123',
  author: 'plan_generator',
  invocationId: 'inv_456',
  timestamp: 1_760_781_600.5,
  ...fields,
})

describe('R3: parsing an ADK event', () => {
  test('should parse text content from content.parts[]', () => {
    const parsed = normalizeAdkEvent(
      event({ content: { parts: [{ text: 'Hello from agent' }, { text: 'This is a thought', thought: true }] } }),
    )
    expect(parsed.textParts).toEqual(['Hello from agent'])
    expect(parsed.thoughtParts).toEqual(['This is a thought'])
  })
  test('should extract function responses', () => {
    const functionResponse = { name: 'web_search', response: { results: ['result1', 'result2'] }, id: 'fn_123' }
    const parsed = normalizeAdkEvent(event({ content: { parts: [{ functionResponse }] } }))
    expect(parsed.functionResponses).toEqual([functionResponse])
  })
  test('should detect agent transfers', () => {
    const parsed = normalizeAdkEvent(
      event({ author: 'dispatcher', actions: { transfer_to_agent: 'section_researcher' } }),
    )
    expect(parsed.isAgentTransfer).toBe(true)
    expect(parsed.transferTargetAgent).toBe('section_researcher')
  })
})

describe('where the requirements and the real wire differ (docs/decisions/006-errata.md)', () => {
  test("a transfer in ADK's own spelling", () => {
    expect(normalizeAdkEvent(event({ actions: { transferToAgent: 'x' } }))).toMatchObject({
      isAgentTransfer: true,
      transferTargetAgent: 'x',
    })
    const none = normalizeAdkEvent(event({ actions: { transferToAgent: '' } }))
    expect(none.isAgentTransfer).toBe(false)
    expect('transferTargetAgent' in none).toBe(false)
  })
  test('[] long-running ids, a response and a long-running call', () => {
    const text = { content: { parts: [{ text: 'x' }] } }
    expect(normalizeAdkEvent(event({ ...text, longRunningToolIds: [] })).isFinalResponse).toBe(true)
    expect(normalizeAdkEvent(event({ ...text, partial: true })).isFinalResponse).toBe(false)
    const answered = event({ content: { parts: [{ functionResponse: { name: 't' } }] } })
    expect(normalizeAdkEvent(answered).isFinalResponse).toBe(false)
    const waits = event({ longRunningToolIds: ['c'], content: { parts: [{ functionCall: { id: 'c', name: 't' } }] } })
    expect(normalizeAdkEvent(waits).isFinalResponse).toBe(true)
  })
  test('milliseconds either way', () => {
    expect(normalizeAdkEvent(event({})).rawEvent.timestamp).toBe(1_760_781_600_500)
    expect(normalizeAdkEvent(event({ timestamp: 1_760_781_600_500 })).rawEvent.timestamp).toBe(1_760_781_600_500)
  })
  test('the calls of a partial are not calls', () => {
    const call = { content: { parts: [{ functionCall: { id: 'c', name: 't', args: {} } }] } }
    expect(normalizeAdkEvent(event(call)).functionCalls).toEqual([{ id: 'c', name: 't', args: {} }])
    expect(normalizeAdkEvent(event({ ...call, partial: true })).functionCalls).toEqual([])
  })
  test('an event of an unknown author, and an error event, are events', () => {
    expect(parseAdkEvent(JSON.stringify(event({ author: 'stranger', errorCode: 'E' })))).toMatchObject({
      author: 'stranger',
      textParts: [],
    })
  })
})

describe('parseAdkEvent', () => {
  test('gives the whole of ParsedAdkEvent', () => {
    const raw = event({ content: { role: 'model', parts: [{ text: 'x' }] } })
    const expected: ParsedAdkEvent = {
      rawEvent: { ...raw, timestamp: 1_760_781_600_500 },
      messageId: 'evt_123',
      author: 'plan_generator',
      textParts: ['x'],
      thoughtParts: [],
      functionCalls: [],
      functionResponses: [],
      isAgentTransfer: false,
      isFinalResponse: true,
      eventType: 'message',
    }
    expect(parseAdkEvent(JSON.stringify(raw), 'message')).toEqual(expected)
  })
  test('snake_case is read', () => {
    const data =
      '{"id":"1","author":"a","invocation_id":"i","timestamp":1760781600,"content":{"parts":[{"function_call":{"name":"f"}}]}}'
    expect(parseAdkEvent(data)?.functionCalls).toEqual([{ name: 'f', id: '1_0', args: {} }])
  })
  test.each([
    ['not JSON', '{'],
    ['not JSON', '[DONE]'],
    ['event.id is missing', '[]'],
    ['event.id is missing', '{"author":"a","invocationId":"i"}'],
    ['event.id is missing', '{"error":"boom"}'],
    ['event.author is missing', '{"id":"1","invocationId":"i"}'],
    ['event.author is missing', '{"id":"1","author":"","invocationId":"i"}'],
    ['event.invocationId is missing', '{"id":"1","author":"a"}'],
    ['event.content must be an object', '{"id":"1","author":"a","invocationId":"i","content":7}'],
    ['nested deeper than 512', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ])('%s: null', (error, data) => {
    expect(parseAdkEvent(data)).toBeNull()
    expect(normalizeSseBlock({ data })).toEqual({ success: false, error })
  })
  test('normalizeAdkEvent never throws on what only claims to be an event', () => {
    const impostor = JSON.parse('{"id":"1","author":"a","content":"text"}')
    expect(normalizeAdkEvent(impostor)).toMatchObject({ textParts: [], functionCalls: [], isFinalResponse: true })
  })
})

describe('R3: the canonical option', () => {
  const flat = '{"type":"research_update","data":{"content":"…"}}'
  const canonical = JSON.stringify(event({ content: { parts: [{ text: 'x' }] } }))
  test('canonical is the default', () => {
    expect(parseEventData(canonical)?.textParts).toEqual(['x'])
    expect(parseEventData(canonical, 'message', { canonical: true })).toEqual(parseAdkEvent(canonical, 'message'))
    expect(parseEventData(flat)).toBeNull()
  })
  test('legacy on request', () => {
    expect(parseEventData(flat, undefined, { canonical: false })).toEqual({
      type: 'research_update',
      data: { content: '…' },
    })
  })
  test.each([
    [
      'type and data',
      '{"type":"research_started","data":{"a":1}}',
      undefined,
      { type: 'research_started', data: { a: 1 } },
    ],
    [
      'bare data, the type on the event line',
      '{"a":1}',
      'research_complete',
      { type: 'research_complete', data: { a: 1 } },
    ],
    ['bare data, no type', '{"a":1}', undefined, { type: 'connection', data: { a: 1 } }],
    ['the type inside wins', '{"type":"t","a":1}', 'e', { type: 't', data: { a: 1 } }],
    [
      'data that is not an object',
      '{"type":"t","data":"x","b":2}',
      undefined,
      { type: 't', data: { b: 2, data: 'x' } },
    ],
  ])('%s', (_, data, type, expected) => {
    expect(parseLegacyEvent(data, type)).toEqual(expected)
  })
  test.each(['', 'x', '[]', 'null', '7'])('%j is none', (data) => {
    expect(parseLegacyEvent(data)).toBeNull()
  })
})
