// Pattern: channels with reducers of their own (append, sum, merge) beside one without; a message that is removed again.
import { AIMessage, RemoveMessage } from '@langchain/core/messages'
import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  notes: Annotation<string[]>({ reducer: (notes, more) => [...notes, ...more], default: () => [] }),
  total: Annotation<number>({ reducer: (total, more) => total + more, default: () => 0 }),
  owners: Annotation<Record<string, string>>({ reducer: (all, some) => ({ ...all, ...some }), default: () => ({}) }),
  latest: Annotation<string>(),
})

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('collect', async () => {
    await effect('reducers/collect')
    return { notes: ['roof', 'walls'], total: 2, owners: { roof: 'ann' }, latest: 'walls' }
  })
  .addNode('extend', async () => {
    await effect('reducers/extend')
    const draft = new AIMessage({ id: `draft-${crypto.randomUUID()}`, content: 'a draft that goes away' })
    return { notes: ['floor'], total: 1, owners: { floor: 'bob' }, latest: 'floor', messages: [draft] }
  })
  .addNode('report', async ({ notes, total, messages }) => {
    await effect('reducers/report')
    const drafts = messages.filter(({ id }) => id?.startsWith('draft-'))
    const report = new AIMessage(`${notes.join(', ')}: ${total}`)
    return { messages: [...drafts.map(({ id }) => new RemoveMessage({ id: id ?? '' })), report] }
  })
  .addEdge(START, 'collect')
  .addEdge('collect', 'extend')
  .addEdge('extend', 'report')
  .addEdge('report', END)
  .compile()
