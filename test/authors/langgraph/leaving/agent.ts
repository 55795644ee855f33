// Pattern: agents that hand over as a network does. Inner graphs leave by a command to the graph around them, with a
// message: for another agent, for another agent one graph deeper, and for the end.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, Command, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  path: Annotation<string[]>({ reducer: (path, more) => [...path, ...more], default: () => [] }),
})
const leaver = (name: string, goto: string) =>
  new StateGraph(State)
    .addNode('leave', async () => {
      await effect(`leaving/leave ${name}`)
      const update = { path: [name], messages: [new AIMessage(`${name} hands over.`)] }
      return new Command({ graph: Command.PARENT, goto, update })
    })
    .addEdge(START, 'leave')
    .compile()
const writer = new StateGraph(State)
  .addNode('pen', async () => {
    await effect('leaving/pen')
    return { messages: [new AIMessage('It is written.')] }
  })
  .addEdge(START, 'pen')
  .addEdge('pen', END)
  .compile()
const department = new StateGraph(State)
  .addNode('editor', leaver('editor', 'writer'), { ends: ['writer'] })
  .addNode('writer', writer)
  .addEdge(START, 'editor')
  .addEdge('writer', END)
  .compile()

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('desk', leaver('desk', 'department'), { ends: ['department'] })
  .addNode('department', department)
  .addNode('porter', leaver('porter', END), { ends: [END] })
  .addEdge(START, 'desk')
  .addEdge('department', 'porter')
  .compile()
