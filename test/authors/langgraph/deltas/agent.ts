// Pattern: channels that keep only what each step added (`DeltaValue`), for long conversations. One is written over once.
import {
  DeltaValue,
  END,
  interrupt,
  MemorySaver,
  MessagesDeltaValue,
  Overwrite,
  START,
  StateGraph,
  StateSchema,
} from '@langchain/langgraph'
import * as z from 'zod/v4'
import { effect } from '../../kit/effect.ts'
import { FakeModel, lastText } from '../../kit/fake-model.ts'

const State = new StateSchema({
  messages: MessagesDeltaValue,
  notes: new DeltaValue(
    // @ts-expect-error its types want a newer zod than that of the server
    z.array(z.string()).default(() => []),
    {
      inputSchema: z.string(),
      reducer: (notes, more) => [...notes, ...more],
    },
  ),
})
const model = new FakeModel((messages) => ({ text: `${messages.length} messages, the last is ${lastText(messages)}.` }))

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('chat', async ({ messages, notes }, config) => {
    await effect(`deltas/chat ${notes.length} ${messages.length}`)
    return { messages: [await model.invoke(messages, config)], notes: lastText(messages) }
  })
  .addNode('ask', async ({ notes }) => {
    if (notes.at(-1) !== 'forget') return {}
    const answer: string = interrupt({ question: 'Forget all notes?', notes })
    await effect(`deltas/ask ${notes.length}`)
    return answer === 'yes' ? { notes: new Overwrite([]) } : {}
  })
  .addNode('count', async ({ notes }) => {
    await effect(`deltas/count ${notes.length}`)
    return { notes: `counted ${notes.length}` }
  })
  .addEdge(START, 'chat')
  .addEdge('chat', 'ask')
  .addEdge('ask', 'count')
  .addEdge('count', END)
  .compile({ checkpointer: new MemorySaver() })
