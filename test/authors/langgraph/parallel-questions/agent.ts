// Pattern: two branches ask at the same time, and both are answered at once.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  given: Annotation<string[]>({ reducer: (given, more) => [...given, ...more], default: () => [] }),
})
const asker = (node: string, question: string) => async () => {
  const answer: string = interrupt({ question })
  await effect(`parallel-questions/${node}`)
  return { given: [`${node}: ${answer}`] }
}

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('legal', asker('legal', 'Does the law allow it?'))
  .addNode('finance', asker('finance', 'Does the budget allow it?'))
  .addNode('watch', async () => {
    await effect('parallel-questions/watch')
    return { given: ['watch: nothing asked'] }
  })
  .addNode('decide', async ({ given }) => {
    await effect('parallel-questions/decide')
    return { messages: [new AIMessage(`decided on ${given.length} voices`)] }
  })
  .addEdge(START, 'legal')
  .addEdge(START, 'finance')
  .addEdge(START, 'watch')
  .addEdge(['legal', 'finance', 'watch'], 'decide')
  .addEdge('decide', END)
  .compile({ checkpointer: new MemorySaver() })
