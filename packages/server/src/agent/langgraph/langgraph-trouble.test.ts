import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import type { Json } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { said, testSession } from '../../../../../test/kit/run-agent.ts'
import { call, type OfflineScript, say } from '../../adk.ts'
import { chatModel } from './chat-model.ts'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'

const State = Annotation.Root({ ...MessagesAnnotation.spec, seen: Annotation<string>() })
const models = { tokensPerSecond: 0 }
const sessionOf = (graph: unknown, id = 's1') =>
  testSession(
    graphAgent('g', async () => ({ graph: graph as CompiledGraph }), models),
    id,
  )

/** A model that calls tools until it says something: the usual loop. */
function loop(script: OfflineScript, tools: ConstructorParameters<typeof ToolNode>[0] = []) {
  const llm = chatModel({ offline: script })
  const calls = (messages: readonly BaseMessage[]): boolean => {
    const last = messages.at(-1)
    return last instanceof AIMessage && (last.tool_calls?.length ?? 0) > 0
  }
  return new StateGraph(State)
    .addNode('chat', async ({ messages }, config) => ({ messages: [await llm.invoke(messages, config)] }))
    .addNode('tools', new ToolNode(tools))
    .addEdge(START, 'chat')
    .addConditionalEdges('chat', ({ messages }) => (calls(messages) ? 'tools' : END), ['tools', END])
    .addEdge('tools', 'chat')
    .compile()
}

const cyclic: Record<string, unknown> = {}
cyclic.self = cyclic
const returning = (value: () => unknown) =>
  tool(async () => value() as string, { name: 'bad', description: 'bad', schema: z.object({}) })
const once: OfflineScript = ({ step }) => (step === 0 ? call('bad') : say('done'))
const answersOf = (events: Parameters<typeof said>[0]): readonly (Record<string, Json> | undefined)[] =>
  said(events).flatMap(({ event }) =>
    (event.content?.parts ?? []).flatMap(({ functionResponse }) =>
      functionResponse === undefined ? [] : [functionResponse.response],
    ),
  )

describe('a tool of a graph that', () => {
  test.each<[string, () => unknown, unknown]>([
    [
      'throws',
      () => {
        throw new Error('no network')
      },
      { error: expect.stringContaining('no network') },
    ],
    ['returns undefined', () => undefined, { result: expect.anything() }],
    ['returns a cycle', () => cyclic, expect.anything()],
  ])('%s is answered once, and the graph continues', async (_, value, answer) => {
    const events = await sessionOf(loop(once, [returning(value)])).run('go')
    expect(answersOf(events)).toEqual([answer])
    expect(said(events).at(-1)?.event.content?.parts?.[0]?.text).toBe('done')
  })

  test('returns 5 MB fails the run with its name: the log does not accept it', async () => {
    const running = sessionOf(loop(once, [returning(() => 'x'.repeat(5_000_000))])).run('go')
    await expect(running).rejects.toThrow(
      "Tool 'bad' returned 5.0 MB of JSON; the limit is 1.0 MB. Return a summary, or save it as an artifact.",
    )
  })
})

describe('a model of a graph that', () => {
  const weather = tool(async ({ city }) => city, {
    name: 'weather',
    description: 'The weather',
    schema: z.object({ city: z.string() }),
  })

  test('calls an unknown tool gets an error as the answer, in the log too', async () => {
    const script: OfflineScript = ({ step }) => (step === 0 ? call('nothing') : say('sorry'))
    const events = await sessionOf(loop(script, [weather])).run('go')
    expect(answersOf(events)).toEqual([{ error: expect.stringContaining('nothing') }])
    expect(said(events).at(-1)?.event.content?.parts?.[0]?.text).toBe('sorry')
  })

  test('calls one with the wrong arguments gets an error', async () => {
    const script: OfflineScript = ({ step }) => (step === 0 ? call('weather', { city: 7 }) : say('sorry'))
    const events = await sessionOf(loop(script, [weather])).run('go')
    expect(answersOf(events)).toEqual([{ error: expect.stringMatching(/city|schema/) }])
  })

  test('says nothing fails the run', async () => {
    await expect(sessionOf(loop(() => [])).run('go')).rejects.toThrow(/empty answer/)
  })

  test('calls without end is stopped', async () => {
    let calls = 0
    const script: OfflineScript = () => {
      calls += 1
      return call('weather', { city: 'Rome' })
    }
    await expect(sessionOf(loop(script, [weather])).run('go')).rejects.toThrow(/limit of \d+/i)
    expect(calls).toBeLessThanOrEqual(100)
  })
})

describe('two sessions of one graph', () => {
  test('a second run sees the messages and the state of the first; another session sees neither', async () => {
    const graph = new StateGraph(State)
      .addNode('count', async ({ messages, seen }) => ({
        seen: messages.map((message) => message.text).join(' '),
        messages: [new AIMessage(`before: ${seen ?? 'nothing'}`)],
      }))
      .addEdge(START, 'count')
      .addEdge('count', END)
      .compile()
    const agent = graphAgent('g', async () => ({ graph: graph as unknown as CompiledGraph }), models)
    const last = (events: Parameters<typeof said>[0]) => said(events).at(-1)?.event.content?.parts?.[0]?.text
    const message = (text: string) => ({
      messages: [{ id: text, role: 'user' as const, content: { parts: [{ text }] } }],
    })
    const one = testSession(agent, 'one')
    await one.run(message('tea'))
    expect(last(await one.run(message('milk')))).toBe('before: tea')
    expect(one.state.seen).toBe('tea before: nothing milk')
    expect(last(await testSession(agent, 'two').run(message('milk')))).toBe('before: nothing')
  })
})
