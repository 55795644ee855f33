// Pattern: two ways to nest. One inner graph has state of its own and is called inside a node; another is a node itself
// and shares keys with the outer graph.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'
import { FakeModel, lastText } from '../../kit/fake-model.ts'

const Research = Annotation.Root({
  query: Annotation<string>(),
  found: Annotation<string[]>({ reducer: (found, more) => [...found, ...more], default: () => [] }),
})
const research = new StateGraph(Research)
  .addNode('search', async ({ query }) => {
    await effect('subgraph/search')
    return { found: [`${query} in the north`, `${query} in the south`] }
  })
  .addNode('rank', async ({ found }) => {
    await effect('subgraph/rank')
    return { found: [`best: ${found[0]}`] }
  })
  .addEdge(START, 'search')
  .addEdge('search', 'rank')
  .addEdge('rank', END)
  .compile()

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  facts: Annotation<string[]>(),
  title: Annotation<string>(),
})
const model = new FakeModel((messages) => ({ text: `An answer about ${lastText(messages)}.` }))
const writing = new StateGraph(State)
  .addNode('headline', async ({ facts }) => {
    await effect('subgraph/headline')
    return { title: String(facts.at(-1)) }
  })
  .addNode('body', async ({ messages }, config) => {
    await effect('subgraph/body')
    return { messages: [await model.invoke(messages, config)] }
  })
  .addEdge(START, 'headline')
  .addEdge('headline', 'body')
  .addEdge('body', END)
  .compile()

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('researcher', async ({ messages }, config) => {
    const { found } = await research.invoke({ query: lastText(messages) }, config)
    return { facts: found }
  })
  .addNode('writer', writing)
  .addNode('close', async ({ title }) => {
    await effect('subgraph/close')
    return { messages: [new AIMessage(`Filed under ${title}`)] }
  })
  .addEdge(START, 'researcher')
  .addEdge('researcher', 'writer')
  .addEdge('writer', 'close')
  .addEdge('close', END)
  .compile()
