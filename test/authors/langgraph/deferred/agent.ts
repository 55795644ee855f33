// Pattern: branches of different lengths. A deferred node waits until all of them are over.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  seen: Annotation<string[]>({ reducer: (seen, more) => [...seen, ...more], default: () => [] }),
})
const step = (name: string) => async () => {
  await effect(`deferred/${name}`)
  return { seen: [name] }
}

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('split', step('split'))
  .addNode('short', step('short'))
  .addNode('long', step('long'))
  .addNode('longer', step('longer'))
  .addNode(
    'sum',
    async ({ seen }) => {
      await effect('deferred/sum')
      return { messages: [new AIMessage(seen.join(', '))] }
    },
    { defer: true },
  )
  .addEdge(START, 'split')
  .addEdge('split', 'short')
  .addEdge('split', 'long')
  .addEdge('long', 'longer')
  .addEdge('short', 'sum')
  .addEdge('longer', 'sum')
  .addEdge('sum', END)
  .compile()
