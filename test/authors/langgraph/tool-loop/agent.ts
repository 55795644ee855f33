// Pattern: a model and its tools in a loop, with two calls in one message, one of which fails.
import { tool } from '@langchain/core/tools'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import * as z from 'zod/v4'
import { effect } from '../../kit/effect.ts'
import { FakeModel } from '../../kit/fake-model.ts'

const price = tool(
  async ({ item }) => {
    await effect(`tool-loop/tools ${item}`)
    if (item === 'unicorn') throw new Error('nobody sells a unicorn')
    return { item, price: 7 }
  },
  { name: 'price', description: 'The price of an item.', schema: z.object({ item: z.string() }) },
)
const model = new FakeModel((messages) => {
  if (messages.some((message) => message.getType() === 'tool')) return { text: 'A pear costs 7.' }
  const calls = ['pear', 'unicorn'].map((item) => ({ id: `c-${item}`, name: 'price', args: { item } }))
  return { text: 'Let me look.', calls }
})

// Without `resumable`: a run that a crash cuts is ended as failed.
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }, config) => ({ messages: [await model.invoke(messages, config)] }))
  .addNode('tools', new ToolNode([price]))
  .addEdge(START, 'model')
  .addConditionalEdges('model', toolsCondition, ['tools', END])
  .addEdge('tools', 'model')
  .compile()
