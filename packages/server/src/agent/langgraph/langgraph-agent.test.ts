import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch'
import { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { applyState, defined, type JsonObject, type Recorded, type RunEvent, type RunInput } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { newestRecord } from '../../../../../test/kit/run-agent.ts'
import { runContext } from '../../../../../test/kit/run-context.ts'
import { isCheckpoint } from './checkpoint.ts'
import { graphAgent } from './langgraph-agent.ts'

const State = Annotation.Root({ ...MessagesAnnotation.spec, plan: Annotation<string[]>() })
const weather = tool(async ({ city }) => ({ city, sky: 'clear' }), {
  name: 'weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
})
const failing = tool(
  async () => {
    throw new Error('no network')
  },
  { name: 'failing', description: 'Fails', schema: z.object({}) },
)

const applyEvent = (state: JsonObject, event: RunEvent): JsonObject => applyState(state, event)

async function runAll(graph: unknown, input: Partial<RunInput>, history: readonly Recorded[] = [], resumable = false) {
  let id = 0
  const before = history.map(({ event }) => event).reduce(applyEvent, {})
  const agent = graphAgent('g', async () => ({ graph: graph as never, resumable }))
  const sealed = newestRecord(history)
  const context = runContext({ history, state: before, ...defined({ sealed }), newId: () => `id${++id}` })
  const events: RunEvent[] = []
  let error: unknown
  try {
    for await (const event of agent.run({ messages: [], ...input }, context)) events.push(event)
  } catch (thrown) {
    error = thrown
  }
  return {
    events,
    error,
    state: events.reduce(applyEvent, before),
    rows: events.map((event, i): Recorded => ({ seq: history.length + i + 1, at: i, run: 'r', event })),
  }
}

const hello = { messages: [{ id: 'm1', role: 'user' as const, content: { parts: [{ text: 'hi' }] } }] }
const brief = (event: RunEvent): string => {
  if (event.kind === 'agent') {
    const part = event.event.content?.parts?.[0]
    const what = part?.text ?? part?.functionCall?.name ?? JSON.stringify(part?.functionResponse?.response)
    return `${event.event.author}${event.event.partial ? '~' : ':'}${what}`
  }
  if (event.kind === 'node.started') return `> ${event.node}${event.after ? ` after ${event.after.join()}` : ''}`
  if (event.kind === 'node.finished') return `< ${event.node} ${event.status}`
  if (event.kind === 'state') return `state ${event.patch.map(({ op, path }) => `${op} ${path}`)}`
  return event.kind
}

/** All but the checkpoints, which are there after each step. */
const briefs = (events: readonly RunEvent[]): readonly string[] =>
  events.filter((event) => !isCheckpoint(event)).map(brief)

describe('a LangGraph graph behind the agent port', () => {
  test('tokens, tools, state and the edges really taken', async () => {
    const model = new FakeListChatModel({ responses: ['Hey'] })
    const graph = new StateGraph(State)
      .addNode('chat', async (state, config) => ({ messages: [await model.invoke(state.messages, config)] }))
      .addNode('extract', async (state, config) => {
        await model.withConfig({ tags: ['nostream'] }).invoke(state.messages, config)
        await dispatchCustomEvent('millrace', { kind: 'tasks', tasks: [] }, config)
        const calls = [{ id: 'c1', name: 'weather', args: { city: 'Oslo' } }]
        return { plan: ['a'], messages: [new AIMessage({ content: '', tool_calls: calls })] }
      })
      .addNode('tools', new ToolNode([weather]))
      .addEdge(START, 'chat')
      .addEdge('chat', 'extract')
      .addEdge('extract', 'tools')
      .addEdge('tools', END)
      .compile()
    const { events } = await runAll(graph, hello)
    expect(briefs(events)).toEqual([
      'state add /messages',
      '> chat@1',
      'model.started',
      'chat~H',
      'chat~e',
      'chat~y',
      'chat:Hey',
      'model.finished',
      'state add /messages/1',
      '< chat@1 ok',
      '> extract@1 after chat@1',
      'model.started',
      'model.finished',
      'tasks',
      'extract:weather',
      'state add /messages/2,add /plan',
      '< extract@1 ok',
      '> tools@1 after extract@1',
      'tool.finished',
      'tools:{"city":"Oslo","sky":"clear"}',
      'state add /messages/3',
      '< tools@1 ok',
    ])
    const messages = events.flatMap((event) =>
      event.kind === 'agent' && event.event.author === 'chat' ? [event.message] : [],
    )
    expect(new Set(messages).size).toBe(1)
    const answer = events.find((event) => event.kind === 'agent' && event.event.author === 'tools')
    expect(JSON.stringify(answer)).toContain('"id":"c1"')
  })

  test('the conversation continues in a later run, from the log alone', async () => {
    const build = () =>
      new StateGraph(State)
        .addNode('count', async (state) => ({ plan: [...(state.plan ?? []), `${state.messages.length} messages`] }))
        .addEdge(START, 'count')
        .addEdge('count', END)
        .compile()
    const first = await runAll(build(), hello)
    const second = await runAll(build(), { messages: [{ ...hello.messages[0]!, id: 'm2' }] }, first.rows)
    expect(second.state.plan).toEqual(['1 messages', '2 messages'])
    const alone = await runAll(build(), hello)
    expect(alone.state.plan).toEqual(['1 messages'])
  })

  test('an interrupt ends the run as interrupted, and another process continues with the answer', async () => {
    const build = () =>
      new StateGraph(State)
        .addNode('ask', async () => ({
          plan: [JSON.stringify(interrupt({ question: 'Delete all?', reason: 'confirmation' }))],
        }))
        .addEdge(START, 'ask')
        .addEdge('ask', END)
        .compile()
    const asked = await runAll(build(), hello)
    const question = asked.events.find((event) => event.kind === 'interrupt')
    expect(question).toMatchObject({ reason: 'confirmation', message: 'Delete all?' })
    expect(asked.events.at(-1)).toEqual({ kind: 'run.finished', outcome: 'interrupted' })
    const interruptId = question?.kind === 'interrupt' ? question.id : ''
    const answered = await runAll(
      build(),
      { resume: [{ interrupt: interruptId, status: 'resolved', payload: { approved: true } }] },
      asked.rows,
    )
    expect(answered.state.plan).toEqual(['{"approved":true}'])
  })

  test('a node that throws is finished as an error, and the run fails', async () => {
    const graph = new StateGraph(State)
      .addNode('broken', async () => {
        throw new Error('the data set is gone')
      })
      .addEdge(START, 'broken')
      .addEdge('broken', END)
      .compile()
    const { events, error } = await runAll(graph, hello)
    expect(briefs(events)).toEqual(['state add /messages', '> broken@1', '< broken@1 error'])
    expect(error).toMatchObject({ message: 'the data set is gone' })
  })

  test('a tool a node calls itself gets a call of its own, and its failure an error result', async () => {
    const graph = new StateGraph(State)
      .addNode('work', async (_state, config) => {
        await weather.invoke({ city: 'Rome' }, config)
        await failing.invoke({}, config).catch(() => undefined)
        return {}
      })
      .addEdge(START, 'work')
      .addEdge('work', END)
      .compile()
    const { events } = await runAll(graph, hello)
    expect(briefs(events)).toEqual([
      'state add /messages',
      '> work@1',
      'work:weather',
      'tool.finished',
      'work:{"city":"Rome","sky":"clear"}',
      'work:failing',
      'tool.finished',
      expect.stringContaining('no network'),
      '< work@1 ok',
    ])
  })

  test('it describes its graph', async () => {
    const graph = new StateGraph(State)
      .addNode('one', async () => ({}))
      .addEdge(START, 'one')
      .addEdge('one', END)
      .compile()
    const { graph: described } = await graphAgent('g', async () => ({ graph: graph as never })).describe()
    expect(described.edges).toEqual([
      { from: '__start__', to: 'one' },
      { from: 'one', to: '__end__' },
    ])
  })
})
