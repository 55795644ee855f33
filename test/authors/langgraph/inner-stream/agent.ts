// Pattern: a graph in a graph in a graph. The innermost one streams the words of a model and reports its progress.
import { AIMessage } from '@langchain/core/messages'
import {
  Annotation,
  END,
  getWriter,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'
import { FakeModel, lastText } from '../../kit/fake-model.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  done: Annotation<string[]>({ reducer: (done, more) => [...done, ...more], default: () => [] }),
})
const model = new FakeModel((messages) => ({ text: `A line about ${lastText(messages)}.` }))

const poet = new StateGraph(State)
  .addNode('rhyme', async ({ messages }, config: LangGraphRunnableConfig) => {
    config.writer?.({ rhyme: lastText(messages) })
    await effect('inner-stream/rhyme')
    return { messages: [await model.invoke(messages, config)] }
  })
  .addEdge(START, 'rhyme')
  .addEdge('rhyme', END)
  .compile()
const workshop = new StateGraph(State)
  .addNode('prepare', async () => {
    getWriter()?.('prepared')
    await effect('inner-stream/prepare')
    return { done: ['prepare'] }
  })
  .addNode('poet', poet)
  .addEdge(START, 'prepare')
  .addEdge('prepare', 'poet')
  .addEdge('poet', END)
  .compile()
const Print = Annotation.Root({ page: Annotation<number>(), done: State.spec.done })
const press = new StateGraph(Print)
  .addNode('print', async ({ page }) => {
    await effect(`inner-stream/print ${page}`)
    return { done: [`page ${page}`] }
  })
  .addEdge(START, 'print')
  .addEdge('print', END)
  .compile()

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('workshop', workshop)
  .addNode('press', press)
  .addNode('close', async ({ done }) => {
    await effect('inner-stream/close')
    return { messages: [new AIMessage(`${done.length} steps`)] }
  })
  .addEdge(START, 'workshop')
  .addConditionalEdges('workshop', () => [1, 2].map((page) => new Send('press', { page })), ['press'])
  .addEdge('press', 'close')
  .addEdge('close', END)
  .compile()
