// Pattern: a person is asked inside an inner graph; the outer graph has the checkpointer.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  draft: Annotation<string>(),
  verdict: Annotation<string>(),
  steps: Annotation<string[]>({ reducer: (steps, more) => [...steps, ...more], default: () => [] }),
})

const review = new StateGraph(State)
  .addNode('prepare', async () => {
    await effect('nested-question/prepare')
    return { draft: 'Dear all', messages: [new AIMessage('I wrote a draft')] }
  })
  .addNode('ask', async ({ draft }) => {
    const verdict: string = interrupt({ question: 'Is this fine?', draft })
    await effect('nested-question/ask')
    return { verdict }
  })
  .addEdge(START, 'prepare')
  .addEdge('prepare', 'ask')
  .addEdge('ask', END)
  .compile()

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('open', async () => {
    await effect('nested-question/open')
    return { steps: ['open'] }
  })
  .addNode('review', review)
  .addNode('send', async ({ verdict, draft }) => {
    await effect('nested-question/send')
    return { steps: ['send'], messages: [new AIMessage(`${draft}: ${verdict}`)] }
  })
  .addEdge(START, 'open')
  .addEdge('open', 'review')
  .addEdge('review', 'send')
  .addEdge('send', END)
  .compile({ checkpointer: new MemorySaver() })
