// Pattern: map-reduce. A router sends one worker for each subject, a reducer gathers their results, and a last node picks one.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, MessagesAnnotation, Send, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  subjects: Annotation<string[]>(),
  jokes: Annotation<string[]>({ reducer: (jokes, more) => [...jokes, ...more], default: () => [] }),
  best: Annotation<string>(),
})

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('plan', async () => {
    await effect('map-reduce/plan')
    return { subjects: ['owls', 'bees', 'cats'], jokes: [] }
  })
  .addNode('write', async ({ subject }: { subject: string }) => {
    await effect(`map-reduce/write ${subject}`)
    return { jokes: [`a joke about ${subject}`] }
  })
  .addNode('pick', async ({ jokes }) => {
    await effect('map-reduce/pick')
    const best = jokes.at(-1) ?? ''
    return { best, messages: [new AIMessage(`${jokes.length} jokes; the best is ${best}`)] }
  })
  .addEdge(START, 'plan')
  .addConditionalEdges('plan', ({ subjects }) => subjects.map((subject) => new Send('write', { subject })), ['write'])
  .addEdge('write', 'pick')
  .addEdge('pick', END)
  .compile()
