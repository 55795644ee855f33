// Pattern: parallel branches of different length that join in a deferred node, which waits for all of them.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  trail: Annotation<string[]>({ reducer: (trail, more) => [...trail, ...more], default: () => [] }),
  quick: Annotation<string>(),
  slow: Annotation<string>(),
})
const step =
  (node: string, more: { quick?: string; slow?: string } = {}) =>
  async () => {
    await effect(`joins/${node}`)
    return { trail: [node], ...more }
  }

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('split', step('split'))
  .addNode('short', step('short', { quick: 'done' }))
  .addNode('long', step('long', { slow: 'begun' }))
  .addNode('longer', step('longer', { slow: 'done' }))
  .addNode(
    'join',
    async ({ trail }) => {
      await effect('joins/join')
      return { trail: ['join'], messages: [new AIMessage(`joined ${trail.length} steps`)] }
    },
    { defer: true },
  )
  .addEdge(START, 'split')
  .addEdge('split', 'short')
  .addEdge('split', 'long')
  .addEdge('long', 'longer')
  .addEdge('short', 'join')
  .addEdge('longer', 'join')
  .addEdge('join', END)
  .compile()
