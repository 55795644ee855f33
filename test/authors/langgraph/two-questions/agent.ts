// Pattern: one node asks twice. With each answer it runs again from its start, and earlier answers are given back to it.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  name: Annotation<string>(),
  age: Annotation<number>(),
})

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('greet', async () => {
    await effect('two-questions/greet')
    return { messages: [new AIMessage('Welcome')] }
  })
  .addNode('form', async () => {
    const name: string = interrupt('What is your name?')
    let age: unknown = interrupt(`How old are you, ${name}?`)
    while (typeof age !== 'number') age = interrupt(`${String(age)} is not a number. How old are you?`)
    await effect('two-questions/form')
    return { name, age }
  })
  .addNode('store', async ({ name, age }) => {
    await effect('two-questions/store')
    return { messages: [new AIMessage(`${name} is ${age}`)] }
  })
  .addEdge(START, 'greet')
  .addEdge('greet', 'form')
  .addEdge('form', 'store')
  .addEdge('store', END)
  .compile({ checkpointer: new MemorySaver() })
