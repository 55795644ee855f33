// Pattern: a team of agents, each an inner graph. A tool call hands the conversation to another one in the outer graph.
import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { Annotation, Command, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'
import { FakeModel } from '../../kit/fake-model.ts'

const State = Annotation.Root({ ...MessagesAnnotation.spec, active: Annotation<string>() })
const model = new FakeModel(() => ({
  text: 'A colleague will book it.',
  calls: [{ id: 'h1', name: 'to_hotel', args: {} }],
}))
const hotelModel = new FakeModel(() => ({ text: 'The hotel is booked.' }))

const flights = new StateGraph(State)
  .addNode('think', async ({ messages }, config) => {
    await effect('handoff/think')
    return { messages: [await model.invoke(messages, config)] }
  })
  .addNode('transfer', async ({ messages }) => {
    await effect('handoff/transfer')
    const done = new ToolMessage({ content: 'handed over', name: 'to_hotel', tool_call_id: 'h1' })
    const update = { active: 'hotel', messages: [...messages.slice(-1), done] }
    return new Command({ goto: 'hotel', graph: Command.PARENT, update })
  })
  .addEdge(START, 'think')
  .addEdge('think', 'transfer')
  .compile()
const hotel = new StateGraph(State)
  .addNode('answer', async ({ messages }, config) => {
    await effect('handoff/answer')
    return { messages: [await hotelModel.invoke(messages, config)] }
  })
  .addEdge(START, 'answer')
  .addEdge('answer', END)
  .compile()

// Without `resumable`: a run that a crash cuts is ended as failed.
export const graph = new StateGraph(State)
  .addNode('flight', flights, { ends: ['hotel'] })
  .addNode('hotel', hotel)
  .addNode('bye', () => ({ messages: [new AIMessage('Goodbye')] }))
  .addEdge(START, 'flight')
  .addEdge('hotel', 'bye')
  .addEdge('bye', END)
  .compile()
