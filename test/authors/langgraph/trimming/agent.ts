// Pattern: a conversation that is cut: old messages are removed by id, or all at once, and a list is written over.
import { AIMessage, RemoveMessage } from '@langchain/core/messages'
import {
  Annotation,
  END,
  MemorySaver,
  MessagesAnnotation,
  Overwrite,
  REMOVE_ALL_MESSAGES,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'
import { FakeModel, lastText } from '../../kit/fake-model.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  notes: Annotation<string[]>({ reducer: (notes, more) => [...notes, ...more], default: () => [] }),
})
const model = new FakeModel((messages) => ({ text: `You said ${lastText(messages)}.` }))

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('chat', async ({ messages, notes }, config) => {
    await effect(`trimming/chat ${notes.length} ${messages.length}`)
    return { messages: [await model.invoke(messages, config)], notes: [lastText(messages)] }
  })
  .addNode('trim', async ({ messages, notes }) => {
    await effect(`trimming/trim ${notes.length} ${messages.length}`)
    if (notes.at(-1) === 'forget') {
      const all = new RemoveMessage({ id: REMOVE_ALL_MESSAGES })
      return { messages: [all, new AIMessage('Forgotten.')], notes: new Overwrite(['nothing']) }
    }
    return { messages: messages.slice(0, -2).map(({ id }) => new RemoveMessage({ id: String(id) })) }
  })
  .addEdge(START, 'chat')
  .addEdge('chat', 'trim')
  .addEdge('trim', END)
  .compile({ checkpointer: new MemorySaver() })
