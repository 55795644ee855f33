import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch'
import { tool } from '@langchain/core/tools'
import {
  Annotation,
  END,
  getWriter,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { fold, problemsView, type RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { testSession } from '../../../../../test/kit/run-agent.ts'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'

// What a graph writes to its custom stream is in the log, with the node that wrote it.

const State = Annotation.Root({ ...MessagesAnnotation.spec, x: Annotation<unknown>() })
const notes = (events: readonly RunEvent[]) =>
  events.flatMap((event) =>
    event.kind === 'log' && event.level === 'info' && event.message !== 'langgraph.checkpoint'
      ? [[event.node, event.message, event.data]]
      : [],
  )

test('the stream writer of a node, of a node inside and of a tool', async () => {
  const count = tool(
    async (_, config: LangGraphRunnableConfig) => {
      getWriter(config)?.({ counted: 3 })
      return 3
    },
    { name: 'count', description: 'Counts', schema: z.object({}) },
  )
  const inner = new StateGraph(State)
    .addNode('deep', (_, { writer }: LangGraphRunnableConfig) => {
      writer?.('from inside')
      return { x: 1 }
    })
    .addEdge(START, 'deep')
    .addEdge('deep', END)
    .compile()
  const graph = new StateGraph(State)
    .addNode('load', (_, { writer }: LangGraphRunnableConfig) => {
      for (const done of [50, 100]) writer?.({ done })
      return { x: 0 }
    })
    .addNode('sub', inner)
    .addNode('tell', async (_, config) => {
      await count.invoke({}, config)
      await dispatchCustomEvent('told', ['named'], config)
      return {}
    })
    .addEdge(START, 'load')
    .addEdge('load', 'sub')
    .addEdge('sub', 'tell')
    .addEdge('tell', END)
    .compile()
  const session = testSession(graphAgent('g', async () => ({ graph: graph as unknown as CompiledGraph })))
  expect(notes(await session.run('hi'))).toEqual([
    ['load@1', 'custom', { done: 50 }],
    ['load@1', 'custom', { done: 100 }],
    ['sub/deep@1', 'custom', 'from inside'],
    ['tell@1', 'custom', { counted: 3 }],
    ['tell@1', 'told', ['named']],
  ])
  expect(fold(problemsView, session.rows).problems.toArray()).toEqual([])
})

test('a value that is not JSON is named without its data', async () => {
  const graph = new StateGraph(State)
    .addNode('load', (_, { writer }: LangGraphRunnableConfig) => {
      writer?.(10n)
      return { x: 0 }
    })
    .addEdge(START, 'load')
    .addEdge('load', END)
    .compile()
  const session = testSession(graphAgent('g', async () => ({ graph: graph as unknown as CompiledGraph })))
  expect(notes(await session.run('hi'))).toEqual([['load@1', 'custom', undefined]])
})
