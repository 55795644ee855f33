import { tool } from '@langchain/core/tools'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'

const toolNode = (name: string) =>
  new ToolNode([tool(async () => name, { name, description: `Does ${name}.`, schema: z.object({}) })])

test('a graph is described with the tools of its tool nodes and of its inner graphs', async () => {
  const inner = new StateGraph(MessagesAnnotation).addNode('t', toolNode('inside')).addEdge(START, 't').compile()
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('tools', toolNode('outside'))
    .addNode('inner', inner)
    .addEdge(START, 'tools')
    .addEdge('tools', 'inner')
    .addEdge('inner', END)
    .compile()
  const { tools, toolDescriptions } = await graphAgent('g', async () => ({
    graph: graph as unknown as CompiledGraph,
  })).describe()
  expect(tools).toEqual(['outside', 'inside'])
  expect(toolDescriptions).toEqual({ outside: 'Does outside.', inside: 'Does inside.' })
})
