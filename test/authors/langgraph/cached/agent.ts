// Pattern: a node with a cache. The second time with the same input its code does not run, and its answer is used again.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { InMemoryCache } from '@langchain/langgraph-checkpoint'
import { effect } from '../../kit/effect.ts'
import { lastText } from '../../kit/fake-model.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  weather: Annotation<string>(),
  asked: Annotation<number>({ reducer: (asked, more) => asked + more, default: () => 0 }),
})

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('count', async ({ asked }) => {
    await effect(`cached/count ${asked}`)
    return { asked: 1 }
  })
  .addNode(
    'look',
    ({ messages }) => ({
      weather: `sun in ${lastText(messages)}`,
      messages: [new AIMessage(`I looked at ${lastText(messages)}`)],
    }),
    { cachePolicy: { keyFunc: ([state]) => lastText((state as typeof State.State).messages) } },
  )
  .addNode('tell', async ({ weather, asked }) => {
    await effect(`cached/tell ${asked}`)
    return { messages: [new AIMessage(`${weather}, asked ${asked} times`)] }
  })
  .addEdge(START, 'count')
  .addEdge('count', 'look')
  .addEdge('look', 'tell')
  .addEdge('tell', END)
  .compile({ cache: new InMemoryCache(), checkpointer: new MemorySaver() })
