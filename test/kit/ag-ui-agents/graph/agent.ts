import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { z } from 'zod/v4'

// A graph that asks a person when the message says so, and has a tool.

export const description = 'A graph that asks before it publishes.'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  published: Annotation<number>({ reducer: (_before, after) => after, default: () => 0 }),
})
const weigh = tool(async ({ what }: { what: string }) => `weighed ${what}`, {
  name: 'weigh',
  description: 'Weighs a thing.',
  schema: z.object({ what: z.string() }),
})
const textOf = (messages: readonly BaseMessage[]): string =>
  String(messages.findLast((one) => one.type === 'human')?.content)
const isWeighing = ({ messages }: typeof State.State): boolean => textOf(messages).startsWith('weigh')

export const graph = new StateGraph(State)
  .addNode('review', ({ messages, published }) => {
    if (isWeighing({ messages, published })) {
      return {
        messages: [
          new AIMessage({ content: '', tool_calls: [{ id: 'w1', name: 'weigh', args: { what: 'a feather' } }] }),
        ],
      }
    }
    if (!textOf(messages).startsWith('publish')) {
      const said = messages.filter((one) => one.type === 'human').map(({ content }) => String(content))
      return { messages: [new AIMessage(`Heard ${said.join(', ')}.`)] }
    }
    const answer: unknown = interrupt({ message: 'Publish it?', schema: { type: 'boolean' } })
    return { messages: [new AIMessage(`Answered ${JSON.stringify(answer)}.`)], published: published + 1 }
  })
  .addNode('tools', new ToolNode([weigh]))
  .addEdge(START, 'review')
  .addConditionalEdges('review', (state) => (isWeighing(state) ? 'tools' : END), ['tools', END])
  .addEdge('tools', END)
  .compile()
