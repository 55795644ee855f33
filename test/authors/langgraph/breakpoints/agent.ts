// Pattern: stops at compiled breakpoints. The graph stops before a node and after it, and goes on when it is asked to.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, MemorySaver, MessagesAnnotation, pushMessage, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  plan: Annotation<string>(),
  seen: Annotation<string[]>({ reducer: (seen, more) => [...seen, ...more], default: () => [] }),
})

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('think', async (_state, config) => {
    pushMessage(new AIMessage({ id: crypto.randomUUID(), content: 'I think about it' }), config)
    await effect('breakpoints/think')
    return { plan: 'go', seen: ['thought'] }
  })
  .addNode('act', async ({ plan }) => {
    await effect('breakpoints/act')
    return { seen: [`acted: ${plan}`], messages: [new AIMessage(`I ${plan}`)] }
  })
  .addNode('tell', async ({ seen }) => {
    await effect('breakpoints/tell')
    return { messages: [new AIMessage(seen.join(', '))] }
  })
  .addEdge(START, 'think')
  .addEdge('think', 'act')
  .addEdge('act', 'tell')
  .addEdge('tell', END)
  .compile({ checkpointer: new MemorySaver(), interruptBefore: ['act'], interruptAfter: ['act'] })
