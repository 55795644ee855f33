import { deepStrictEqual } from 'node:assert'
import {
  AIMessage,
  AIMessageChunk,
  BaseMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import { Command, Send } from '@langchain/langgraph'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { serializer } from './serializer.ts'

async function through(value: unknown): Promise<unknown> {
  const [type, bytes] = await serializer.dumpsTyped(value)
  return serializer.loadsTyped(type, bytes)
}

/** JSON in which the words that mean something here, and elsewhere, are keys and values more often than by chance. */
const word = fc.constantFrom(
  '~',
  'of',
  'name',
  'lc',
  'type',
  'id',
  'kwargs',
  'lg_name',
  '__proto__',
  'constructor',
  'a',
)
const said = fc.constantFrom(
  'object',
  'undefined',
  'map',
  'message',
  'send',
  'command',
  'secret',
  'Command',
  1,
  2,
  null,
)
const nasty = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    said,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(word, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value

describe('what a checkpoint stores', () => {
  test('any JSON comes back the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), nasty), async (value) => {
        const back = await through(value)
        deepStrictEqual(back, value)
        expect(JSON.stringify(back)).toBe(JSON.stringify(value))
      }),
      { numRuns: 500 },
    )
  })

  const calls = [{ id: 'c1', name: 'weather', args: { city: 'Oslo' }, type: 'tool_call' as const }]
  // LangChain's type for it is `undefined`.
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 } as never
  const rest = { id: 'm1', name: 'n', additional_kwargs: { a: { b: [1] } }, response_metadata: { model: 'x' } }
  const broken = [{ id: 'c2', name: 'w', args: '{', error: 'no', type: 'invalid_tool_call' as const }]
  const chunks = [{ id: 'c1', name: 'weather', args: '{"city":"Oslo"}', index: 0, type: 'tool_call_chunk' as const }]

  test.each<[string, BaseMessage]>([
    ['HumanMessage', new HumanMessage({ ...rest, content: [{ type: 'text', text: 'hi' }] })],
    ['SystemMessage', new SystemMessage({ ...rest, content: 'be brief' })],
    [
      'AIMessage',
      new AIMessage({ ...rest, content: 'hi', tool_calls: calls, invalid_tool_calls: broken, usage_metadata: usage }),
    ],
    ['AIMessage of v1', new AIMessage({ id: 'v1', contentBlocks: [{ type: 'text', text: 'hi' }], tool_calls: calls })],
    ['AIMessageChunk', new AIMessageChunk({ ...rest, content: 'hi', tool_call_chunks: chunks, usage_metadata: usage })],
    [
      'ToolMessage',
      new ToolMessage({ ...rest, content: 'sun', tool_call_id: 'c1', status: 'error', artifact: { big: [1] } }),
    ],
    ['FunctionMessage', new FunctionMessage({ ...rest, content: 'sun', name: 'weather' })],
    ['ChatMessage', new ChatMessage({ ...rest, content: 'sun', role: 'narrator' })],
    ['RemoveMessage', new RemoveMessage({ id: 'm0' })],
  ])('%s comes back with all that it holds', async (_, message) => {
    const back = (await through({ messages: [message] })) as { messages: [BaseMessage] }
    const [made] = back.messages
    expect(made.constructor).toBe(message.constructor)
    expect(made).toBeInstanceOf(BaseMessage)
    const { lc_kwargs: _was, ...fields } = { ...message }
    const { lc_kwargs: _is, ...madeFields } = { ...made }
    expect(madeFields).toStrictEqual(fields)
    // The content of v1 is printed under its other name: it is the same list.
    const { content_blocks: _blocks, ...printed } = JSON.parse(JSON.stringify(message)).kwargs
    expect(JSON.parse(JSON.stringify(made)).kwargs).toMatchObject(printed)
  })

  test('a message of a derived class comes back as its base class', async () => {
    class Loud extends AIMessage {
      static override lc_name(): string {
        return 'Loud'
      }
    }
    const back = (await through(new Loud('HI'))) as AIMessage
    expect(back.constructor).toBe(AIMessage)
    expect(back.content).toBe('HI')
  })

  test('the content of a message is not interpreted, and nothing is printed', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const record = { '~': 'message', name: 'AIMessage', of: { additional_kwargs: { tool_calls: [{ function: 1 }] } } }
    const bytes = new TextEncoder().encode(JSON.stringify(record))
    const back = (await serializer.loadsTyped('json', bytes)) as AIMessage
    expect(back.tool_calls).toEqual([])
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
  })

  test('a message gets only the fields of its class', async () => {
    const text =
      '{"~":"message","name":"AIMessage","of":{"content":"x","getType":1,"lc_secrets":1,"__proto__":{"a":1}}}'
    const back = (await serializer.loadsTyped('json', text)) as AIMessage
    expect(back.getType()).toBe('ai')
    expect(Object.getPrototypeOf(back)).toBe(AIMessage.prototype)
    expect(Object.hasOwn(back, 'lc_secrets')).toBe(false)
  })

  test('what LangGraph keeps for itself: Send and Command', async () => {
    const send = new Send('worker', { part: new HumanMessage('hi'), like: [{ lg_name: 'Command', goto: 'x' }] })
    send.args.like = [{ lg_name: 'Command', goto: 'x' }]
    const back = (await through([send])) as [Send]
    expect(back[0]).toBeInstanceOf(Send)
    expect(back[0]).toStrictEqual(send)
    const command = new Command({ update: { a: 1 }, goto: [new Send('worker', 1), 'end'], resume: { yes: true } })
    const again = (await through(command)) as Command
    expect(again).toBeInstanceOf(Command)
    expect({ ...again }).toMatchObject({ update: { a: 1 }, goto: command.goto, resume: { yes: true } })
  })

  test('Map, Set, Date, bytes, undefined, numbers that JSON lacks', async () => {
    const value = {
      map: new Map<unknown, unknown>([
        ['a', new Set([1, undefined])],
        [{ b: 1 }, new Date(5)],
      ]),
      none: undefined,
      holes: [undefined, Number.NaN, Number.POSITIVE_INFINITY, -0, 12n],
      never: new Date(Number.NaN),
      bytes: new Uint8Array([0, 255, 7]),
    }
    expect(await through(value)).toStrictEqual(value)
    expect(await through(new Uint8Array([1]))).toStrictEqual(new Uint8Array([1]))
    expect(await through(undefined)).toBeUndefined()
  })

  test('an error comes back as an error with its name and message', async () => {
    const back = (await through(new TypeError('no'))) as Error
    expect(back).toBeInstanceOf(Error)
    expect([back.name, back.message]).toEqual(['TypeError', 'no'])
  })

  test('anything else becomes data', async () => {
    class Point {
      x = 1
      move = (): void => {}
    }
    const cyclic: Record<string, unknown> = { a: 1 }
    cyclic.self = cyclic
    const value = { point: new Point(), at: new URL('http://localhost/'), does: () => 1, cyclic, list: [() => 1] }
    expect(await through(value)).toStrictEqual({
      point: { x: 1 },
      at: 'http://localhost/',
      cyclic: { a: 1, self: '[Circular]' },
      list: [null],
    })
  })

  test.each([
    '{"~":"nothing","of":1}',
    '{"~":"map","of":[1]}',
    '{"~":"set","of":{}}',
    '{"~":"bigint","of":"x"}',
    '{"~":"send","of":{"node":{}}}',
    '{"~":"message","name":"PromptTemplate","of":{}}',
    '{"~":"message","name":"__proto__","of":{}}',
    '{"~":["message"],"name":"AIMessage","of":{}}',
  ])('a record that we did not write is data: %s', async (text) => {
    expect(await serializer.loadsTyped('json', text)).toStrictEqual(JSON.parse(text))
  })

  test('a state that is nested too deeply is refused where it is stored', async () => {
    let deep: unknown = 1
    for (let i = 0; i < 600; i++) deep = [deep]
    await expect(serializer.dumpsTyped(deep)).rejects.toThrow('nested deeper than 512')
  })
})
