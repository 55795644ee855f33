import { AIMessage, AIMessageChunk, ToolMessage } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { tool } from '@langchain/core/tools'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import {
  Annotation,
  BaseCheckpointSaver,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { problemsView, type Recorded, type RunEvent, transcriptView } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { outline, said, testSession } from '../../../../../test/kit/run-agent.ts'
import { checkpointsIn } from './checkpoint.ts'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'

// Graphs that ask a person, as the documentation of LangGraph and LangChain writes them.

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  answer: Annotation<unknown>(),
  parts: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})
/** Every run loads the graph anew, as after a restart of the server. */
const sessionOf = (build: () => unknown, resumable = false) =>
  testSession(graphAgent('g', async () => ({ graph: build() as CompiledGraph, resumable })))
const asked = (events: readonly RunEvent[]) => events.flatMap((event) => (event.kind === 'interrupt' ? [event] : []))
const answer = (events: readonly RunEvent[], payload: unknown) => ({
  resume: asked(events).map(({ id }) => ({ interrupt: id, status: 'resolved' as const, payload: payload as never })),
})
const quiet = (events: readonly RunEvent[]) => outline(events).filter((line) => line !== 'state' && line !== 'log')
const foldAll = <S>(view: { initial: S; apply(state: S, row: Recorded): S }, rows: readonly Recorded[]): S =>
  rows.reduce((state, row) => view.apply(state, row), view.initial)

describe('a graph compiled with MemorySaver', () => {
  const build = () =>
    new StateGraph(State)
      .addNode('ask', () => ({ answer: interrupt({ question: 'Go on?' }) }))
      .addNode('after', () => ({ parts: ['after'] }))
      .addEdge(START, 'ask')
      .addEdge('ask', 'after')
      .addEdge('after', END)
      .compile({ checkpointer: new MemorySaver() })

  test('resumes at its interrupt after a restart, because the log has its checkpoints', async () => {
    const session = sessionOf(build)
    const first = await session.run('hi')
    expect(first.filter((event) => event.kind === 'log' && event.message.includes('in-memory'))).toHaveLength(1)
    expect(quiet(first)).toEqual(['> ask@1', 'interrupt input_required', '< ask@1 error', 'interrupted'])
    expect(first.find((event) => event.kind === 'node.finished')).toMatchObject({ status: 'interrupted' })
    expect(asked(first)[0]).toMatchObject({ node: 'ask@1' })
    const second = await session.run(answer(first, 'yes'))
    expect(quiet(second)).toEqual(['> ask@2', '< ask@2', '> after@1', '< after@1'])
    expect(second.some((event) => event.kind === 'log' && event.message.includes('in-memory'))).toBe(false)
    expect(session.state).toMatchObject({ answer: 'yes', parts: ['after'] })
  })

  test('says where its checkpoints are', async () => {
    const agent = graphAgent('g', async () => ({ graph: build() as unknown as CompiledGraph }))
    expect((await agent.describe()).checkpoints).toBe('log')
    abstract class PostgresSaver extends BaseCheckpointSaver {}
    const own = { ...build(), checkpointer: Object.create(PostgresSaver.prototype) } as unknown as CompiledGraph
    expect(checkpointsIn(own)).toBe('own')
  })

  test('whose question is gone fails, and does not start over', async () => {
    const session = sessionOf(build)
    const resume = [{ interrupt: 'gone', status: 'resolved' as const, payload: 'yes' }]
    await expect(session.run({ resume })).rejects.toThrow('the graph no longer waits for this answer')
    expect(session.rows.some(({ event }) => event.kind === 'node.started')).toBe(false)
  })

  test('that crashed before its first checkpoint begins with the message', async () => {
    const session = sessionOf(build, true)
    await session.run('hi')
    const again = await session.run('hi', { resumed: true })
    expect(quiet(again)).toContain('interrupted')
  })
})

describe('a node that asks one question after the other', () => {
  const build = () =>
    new StateGraph(State)
      .addNode('form', () => ({ parts: ['Name?', 'Age?', 'Town?'].map((question) => String(interrupt(question))) }))
      .addEdge(START, 'form')
      .addEdge('form', END)
      .compile()

  test('asks each under an id of its own, so that a late answer is not the answer to the next one', async () => {
    const session = sessionOf(build)
    const name = await session.run('hi')
    const age = await session.run(answer(name, 'Ann'))
    const functionResponse = { id: asked(age)[0]?.id ?? '', name: 'question', response: { result: 41 } }
    const said = { id: 'm', role: 'user' as const, content: { role: 'user', parts: [{ functionResponse }] } }
    const town = await session.run({ messages: [said] })
    const questions = [name, age, town].flatMap(asked)
    expect(questions.map(({ message }) => message)).toEqual(['Name?', 'Age?', 'Town?'])
    const first = questions[0]?.id
    expect(questions.map(({ id }) => id)).toEqual([first, `${first}~2`, `${first}~3`])
    await session.run(answer(town, 'Rome'))
    expect(session.state).toMatchObject({ parts: ['Ann', '41', 'Rome'] })
  })
})

describe('a graph inside a node', () => {
  const inner = new StateGraph(State)
    .addNode('first', () => ({ messages: [new AIMessage('hello')] }))
    .addNode('ask', () => ({ answer: interrupt('Really?') }))
    .addEdge(START, 'first')
    .addEdge('first', 'ask')
    .addEdge('ask', END)
    .compile()
  const build = () =>
    new StateGraph(State)
      .addNode('sub', inner)
      .addNode('last', () => ({}))
      .addEdge(START, 'sub')
      .addEdge('sub', 'last')
      .addEdge('last', END)
      .compile({ checkpointer: new MemorySaver() })

  test('has its nodes inside that node, and says nothing twice', async () => {
    const session = sessionOf(build)
    const first = await session.run('hi')
    const started = first.flatMap((event) => (event.kind === 'node.started' ? [[event.node, event.parent]] : []))
    expect(started).toEqual([
      ['sub@1', undefined],
      ['sub/first@1', 'sub@1'],
      ['sub/ask@1', 'sub@1'],
    ])
    expect(asked(first)[0]).toMatchObject({ node: 'sub/ask@1', message: 'Really?' })
    const second = await session.run(answer(first, 'yes'))
    expect(quiet(second)).toEqual(['> sub@2', '> sub/ask@2', '< sub/ask@2', '< sub@2', '> last@1', '< last@1'])
  })

  test('is drawn inside that node', async () => {
    const { graph } = await graphAgent('g', async () => ({ graph: build() as unknown as CompiledGraph })).describe()
    expect(graph.nodes).toContainEqual({ id: 'sub/ask', kind: 'step', parent: 'sub' })
    expect(graph.edges).toEqual(
      expect.arrayContaining([
        { from: '__start__', to: 'sub' },
        { from: 'sub', to: 'sub/first' },
        { from: 'sub/first', to: 'sub/ask' },
        { from: 'sub', to: 'last' },
      ]),
    )
  })
})

describe('a review of tool calls', () => {
  const mail = tool(async ({ to }: { to: string }) => `sent to ${to}`, {
    name: 'mail',
    description: 'Sends mail',
    schema: z.object({ to: z.string() }),
  })
  const call = { id: 'c1', name: 'mail', args: { to: 'ann' }, type: 'tool_call' as const }
  const build = () =>
    new StateGraph(State)
      .addNode('model', ({ messages }) => ({
        messages: [
          messages.at(-1) instanceof ToolMessage
            ? new AIMessage({ id: 'a2', content: 'done' })
            : new AIMessage({ id: 'a1', content: '', tool_calls: [call] }),
        ],
      }))
      .addNode('review', ({ messages }) => {
        const last = messages.at(-1) as AIMessage
        if ((last.tool_calls ?? []).length === 0) return {}
        const { decisions } = interrupt({
          action_requests: [{ name: 'mail', args: call.args, description: 'Review it' }],
          review_configs: [{ action_name: 'mail', allowed_decisions: ['approve', 'edit', 'reject'] }],
        }) as { decisions: { type: string; message?: string }[] }
        const [decision] = decisions
        if (decision?.type === 'approve') return { messages: [last] }
        const content = decision?.message ?? 'rejected'
        return {
          messages: [last, new ToolMessage({ content, tool_call_id: 'c1', name: 'mail', status: 'error' })],
        }
      })
      .addNode('tools', new ToolNode([mail]))
      .addEdge(START, 'model')
      .addEdge('model', 'review')
      .addConditionalEdges('review', ({ messages }) => {
        const last = messages.at(-1)
        if (last instanceof ToolMessage) return 'model'
        return ((last as AIMessage).tool_calls ?? []).length > 0 ? 'tools' : END
      })
      .addEdge('tools', 'model')
      .compile({ checkpointer: new MemorySaver() })

  const cards = (rows: readonly Recorded[]) =>
    foldAll(transcriptView, rows)
      .settled.toArray()
      .flatMap((item) => (item.kind === 'message' ? item.parts.filter((each) => each.kind === 'tool') : []))

  test.each([
    ['approved', { type: 'approve' }, { result: 'sent to ann' }],
    ['rejected', { type: 'reject', message: 'not now' }, { error: 'not now' }],
  ])('that is %s has one call with one answer', async (_, decision, response) => {
    const session = sessionOf(build)
    const first = await session.run('hi')
    expect(asked(first)[0]).toMatchObject({ message: 'May the agent use mail?' })
    const second = await session.run(answer(first, { decisions: [decision] }))
    const parts = said([...first, ...second]).flatMap(({ event }) => event.content?.parts ?? [])
    expect(parts.flatMap(({ functionCall }) => functionCall?.id ?? [])).toEqual(['c1'])
    expect(parts.flatMap(({ functionResponse }) => functionResponse ?? [])).toEqual([
      { id: 'c1', name: 'mail', response },
    ])
    expect(cards(session.rows)).toMatchObject([{ call: 'c1', status: 'error' in response ? 'error' : 'ok' }])
    const problems = foldAll(problemsView, session.rows).problems.toArray()
    expect(problems.filter(({ severity }) => severity !== 'info')).toEqual([])
  })
})

test('a tool that asks has one call, which is answered after the answer', async () => {
  const risky = tool(async () => `was told ${interrupt('May I?')}`, {
    name: 'risky',
    description: 'Asks first',
    schema: z.object({}),
  })
  const build = () =>
    new StateGraph(State)
      .addNode('model', () => ({
        messages: [new AIMessage({ content: '', tool_calls: [{ id: 'c1', name: 'risky', args: {} }] })],
      }))
      .addNode('tools', new ToolNode([risky]))
      .addEdge(START, 'model')
      .addEdge('model', 'tools')
      .addEdge('tools', END)
      .compile({ checkpointer: new MemorySaver() })
  const session = sessionOf(build)
  const first = await session.run('hi')
  expect(quiet(first)).not.toContain('tools answer risky')
  const second = await session.run(answer(first, 'yes'))
  expect(quiet(second)).toEqual(['> tools@2', 'tools answer risky', '< tools@2'])
})

describe('an ADK client answers with a function response', () => {
  const response = (events: readonly RunEvent[], value: unknown) => {
    const parts = asked(events).map(({ id }) => ({
      functionResponse: { id, name: 'adk_request_input', response: value as never },
    }))
    return { messages: [{ id: crypto.randomUUID(), role: 'user' as const, content: { role: 'user', parts } }] }
  }
  const build = () =>
    new StateGraph(State)
      .addNode('before', () => ({ parts: ['before'] }))
      .addNode('ask', () => ({ answer: interrupt('Go on?') }))
      .addEdge(START, 'before')
      .addEdge('before', 'ask')
      .addEdge('ask', END)
      .compile({ checkpointer: new MemorySaver() })

  test.each([
    ['a value, which ADK wraps', { result: 'yes' }, 'yes'],
    ['an object', { decisions: [{ type: 'approve' }] }, { decisions: [{ type: 'approve' }] }],
    ['an object with a result and more', { result: 1, more: 2 }, { result: 1, more: 2 }],
  ])('%s: the graph continues at its question', async (_, value, answer) => {
    const session = sessionOf(build)
    const first = await session.run('hi')
    const second = await session.run(response(first, value))
    expect(quiet(second)).toEqual(['> ask@2', '< ask@2'])
    expect(session.state).toMatchObject({ answer, parts: ['before'] })
    expect(session.state.messages).toHaveLength(1)
  })

  test('an answer to a question that is gone fails, and does not start over', async () => {
    const session = sessionOf(build)
    const gone = response([{ kind: 'interrupt', id: 'gone', reason: 'input_required' }], { result: 'yes' })
    await expect(session.run(gone)).rejects.toThrow('the graph no longer waits for this answer')
  })

  test('a stop before a node continues with it', async () => {
    const stopping = () =>
      new StateGraph(State)
        .addNode('one', () => ({ parts: ['one'] }))
        .addEdge(START, 'one')
        .addEdge('one', END)
        .compile({ checkpointer: new MemorySaver(), interruptBefore: ['one'] })
    const session = sessionOf(stopping)
    const first = await session.run('hi')
    await session.run(response(first, { result: true }))
    expect(session.state.parts).toEqual(['one'])
  })
})

test('a stop before a node is a question, and the answer continues there', async () => {
  const build = () =>
    new StateGraph(State)
      .addNode('one', () => ({ parts: ['one'] }))
      .addNode('two', () => ({ parts: ['two'] }))
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .addEdge('two', END)
      .compile({ checkpointer: new MemorySaver(), interruptBefore: ['two'] })
  const session = sessionOf(build)
  const first = await session.run('hi')
  expect(quiet(first).at(-1)).toBe('interrupted')
  await session.run(answer(first, true))
  expect(session.state.parts).toEqual(['one', 'two'])
})

test('what a person changes while the graph stops before a node is what the node sees', async () => {
  const build = () =>
    new StateGraph(State)
      .addNode('one', () => ({ parts: ['one'] }))
      .addNode('two', ({ parts }) => ({ parts: [`saw ${parts.join()}`] }))
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .addEdge('two', END)
      .compile({ checkpointer: new MemorySaver(), interruptBefore: ['two'] })
  const session = sessionOf(build)
  const first = await session.run('hi')
  session.edit([{ op: 'replace', path: '/parts', value: ['by hand'] }])
  await session.run(answer(first, true))
  expect(session.state.parts).toEqual(['by hand', 'saw by hand'])
})

test('an edit by a person reaches the graph, past its reducer', async () => {
  const build = () =>
    new StateGraph(State)
      .addNode('add', ({ parts }) => ({ parts: [`saw ${parts.length}`] }))
      .addEdge(START, 'add')
      .addEdge('add', END)
      .compile()
  const session = sessionOf(build)
  await session.run('hi')
  session.edit([{ op: 'replace', path: '/parts', value: ['edited', 'by hand'] }])
  await session.run('again')
  expect(session.state.parts).toEqual(['edited', 'by hand', 'saw 2'])
})

test('every model call has its tokens and its model, also one that people do not see', async () => {
  const usage_metadata = {
    input_tokens: 10,
    output_tokens: 5,
    total_tokens: 15,
    output_token_details: { reasoning: 2 },
  }
  class Counting extends FakeListChatModel {
    override async *_streamResponseChunks(): AsyncGenerator<ChatGenerationChunk> {
      const message = new AIMessageChunk({
        content: 'ok',
        usage_metadata,
        response_metadata: { model_name: 'm-1' },
      } as never)
      yield new ChatGenerationChunk({ message, text: 'ok' })
    }
  }
  const model = new Counting({ responses: ['ok'] })
  const build = () =>
    new StateGraph(State)
      .addNode('seen', async ({ messages }, config) => ({ messages: [await model.invoke(messages, config)] }))
      .addNode('unseen', async ({ messages }, config) => {
        await model.withConfig({ tags: ['nostream'] }).invoke(messages, config)
        return {}
      })
      .addEdge(START, 'seen')
      .addEdge('seen', 'unseen')
      .addEdge('unseen', END)
      .compile()
  const events = said(await sessionOf(build).run('hi')).filter(({ event }) => event.partial !== true)
  expect(
    events.map(({ event: { author, modelVersion, usageMetadata } }) => [author, modelVersion, usageMetadata]),
  ).toEqual(
    ['seen', 'unseen'].map((author) => [
      author,
      'm-1',
      { promptTokenCount: 10, candidatesTokenCount: 3, totalTokenCount: 15, thoughtsTokenCount: 2 },
    ]),
  )
})
