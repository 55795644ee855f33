// Pattern: a retry policy. A node fails twice with an error that passes, and the third attempt succeeds.
import { AIMessage } from '@langchain/core/messages'
import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  attempts: Annotation<number>({ reducer: (attempts, more) => attempts + more, default: () => 0 }),
})
/** The attempts of each thread. */
const failures = new Map<unknown, number>()

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('prepare', async () => {
    await effect('retries/prepare')
    return { attempts: 1 }
  })
  .addNode(
    'fetch',
    async (_state, config: LangGraphRunnableConfig) => {
      const thread = config.configurable?.thread_id
      const before = failures.get(thread) ?? 0
      failures.set(thread, before + 1)
      if (before < 2) throw new Error(`the line is busy (${before + 1})`)
      await effect('retries/fetch')
      return { attempts: 1, messages: [new AIMessage('fetched in the end')] }
    },
    { retryPolicy: { maxAttempts: 3, initialInterval: 10, logWarning: false } },
  )
  .addEdge(START, 'prepare')
  .addEdge('prepare', 'fetch')
  .addEdge('fetch', END)
  .compile()
