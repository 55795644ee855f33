// Pattern: nodes that fail. One is given up after its time limit, one after its attempts, and each has an error handler.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, Command, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  problems: Annotation<string[]>({ reducer: (problems, more) => [...problems, ...more], default: () => [] }),
})

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('begin', async () => {
    await effect('failures/begin')
    return {}
  })
  .addNode(
    'broken',
    () => {
      throw new Error('no bread')
    },
    {
      retryPolicy: { maxAttempts: 2, initialInterval: 5, jitter: false, logWarning: false },
      errorHandler: (_state, { node, error }) =>
        new Command({ goto: 'slow', update: { problems: [`${node}: ${(error as Error).message}`] } }),
    },
  )
  .addNode('slow', () => new Promise<object>(() => {}), {
    timeout: 50,
    errorHandler: () => new Command({ goto: 'sorry', update: { problems: ['slow: given up'] } }),
  })
  .addNode('sorry', async ({ problems }) => {
    await effect('failures/sorry')
    return { messages: [new AIMessage(`Sorry: ${problems.join('; ')}`)] }
  })
  .addEdge(START, 'begin')
  .addEdge('begin', 'broken')
  .addEdge('sorry', END)
  .compile()
