// Pattern: an inner graph with a memory of its own. It is compiled with `checkpointer: true` and asks a person.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const Inner = Annotation.Root({
  visits: Annotation<string[]>({ reducer: (visits, more) => [...visits, ...more], default: () => [] }),
  report: Annotation<string>(),
})
const desk = new StateGraph(Inner)
  .addNode('ask', async ({ visits }) => {
    const name: string = interrupt(`Visit ${visits.length + 1}: who is it?`)
    await effect(`stateful-inner/ask ${name}`)
    return { visits: [name] }
  })
  .addNode('sum', async ({ visits }) => {
    await effect(`stateful-inner/sum ${visits.length}`)
    return { report: visits.join(', ') }
  })
  .addEdge(START, 'ask')
  .addEdge('ask', 'sum')
  .addEdge('sum', END)
  .compile({ checkpointer: true })

const State = Annotation.Root({ ...MessagesAnnotation.spec, report: Annotation<string>() })

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('desk', desk)
  .addNode('tell', async ({ report }) => {
    await effect(`stateful-inner/tell ${report}`)
    return { messages: [new AIMessage(`So far: ${report}`)] }
  })
  .addEdge(START, 'desk')
  .addEdge('desk', 'tell')
  .addEdge('tell', END)
  .compile({ checkpointer: new MemorySaver() })
