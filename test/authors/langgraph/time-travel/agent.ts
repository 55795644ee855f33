// Pattern: a thread that is continued from an earlier moment, with another message or with a value changed by hand.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'
import { lastText } from '../../kit/fake-model.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  topic: Annotation<string>(),
  path: Annotation<string[]>({ reducer: (path, more) => [...path, ...more], default: () => [] }),
})

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('choose', async ({ messages, path }) => {
    await effect(`time-travel/choose ${path.length}`)
    return { topic: lastText(messages), path: [`chose ${lastText(messages)}`] }
  })
  .addNode('write', async ({ topic, path }) => {
    await effect(`time-travel/write ${path.length}`)
    return { path: [`wrote ${topic}`], messages: [new AIMessage(`${path.join(', ')}; now a text on ${topic}`)] }
  })
  .addEdge(START, 'choose')
  .addEdge('choose', 'write')
  .addEdge('write', END)
  .compile({ checkpointer: new MemorySaver() })
