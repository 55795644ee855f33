/**
 * Agents whose graphs have the checkpointer that `make` makes: one remembers, one asks inside an inner graph, one can be
 * resumed, and one loses its database. What they do to the world outside is one line each in the file `effects`.
 */
export function savedAgents(make: string, lose: string, effects: string): Readonly<Record<string, string>> {
  const head = `
import { appendFileSync, existsSync } from 'node:fs'
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
${make}
const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  answer: Annotation(),
  done: Annotation({ reducer: (done, more) => [...done, ...more], default: () => [] }),
})
const step = (name) => async () => {
  appendFileSync(${JSON.stringify(effects)}, name + '\\n')
  return { done: [name] }
}
// Held until the file is gone.
const held = (name) => async () => {
  while (existsSync(${JSON.stringify(`${effects}.held`)})) await new Promise((resolve) => setTimeout(resolve, 10))
  return step(name)()
}
`
  const chat = `${head}
export const graph = new StateGraph(State)
  .addNode('chat', ({ messages }, { configurable }) => {
    const said = messages.filter((each) => each.getType() === 'human').map(({ text }) => text).join(' and ')
    return { messages: [new AIMessage(messages.length > 1 ? said + ' in ' + configurable.thread_id : said)] }
  })
  .addEdge(START, 'chat')
  .addEdge('chat', END)
  .compile({ checkpointer })
`
  const asks = `${head}
const inner = new StateGraph(State)
  .addNode('ask', () => ({ answer: interrupt({ question: 'May I?' }) }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile()
export const graph = new StateGraph(State)
  .addNode('open', step('open'))
  .addNode('inner', inner)
  .addNode('tell', ({ answer }) => ({ messages: [new AIMessage('you said ' + answer)] }))
  .addEdge(START, 'open')
  .addEdge('open', 'inner')
  .addEdge('inner', 'tell')
  .addEdge('tell', END)
  .compile({ checkpointer })
`
  const steps = `${head}
export const resumable = true
export const graph = new StateGraph(State)
  .addNode('one', step('one'))
  .addNode('two', held('two'))
  .addNode('beside', step('beside'))
  .addNode('three', step('three'))
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('one', 'beside')
  .addEdge(['two', 'beside'], 'three')
  .addEdge('three', END)
  .compile({ checkpointer })
`
  const gone = `${head}
export const resumable = true
export const graph = new StateGraph(State)
  .addNode('one', async () => {
    ${lose}
    return { done: ['one'] }
  })
  .addNode('two', step('never'))
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .addEdge('two', END)
  .compile({ checkpointer })
`
  return { asks, chat, gone, steps }
}
