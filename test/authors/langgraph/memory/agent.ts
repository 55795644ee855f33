// Pattern: short-term memory. The author compiles with a saver in memory, and a thread remembers its earlier turns.
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'
import { FakeModel } from '../../kit/fake-model.ts'

const model = new FakeModel((messages) => {
  const people = messages.filter((message) => message.getType() === 'human')
  return { text: `You have said ${people.map(({ text }) => text).join(' and then ')}.` }
})

export const resumable = true
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('chat', async ({ messages }, config) => {
    await effect(`memory/chat ${messages.length}`)
    return { messages: [await model.invoke(messages, config)] }
  })
  .addEdge(START, 'chat')
  .addEdge('chat', END)
  .compile({ checkpointer: new MemorySaver() })
