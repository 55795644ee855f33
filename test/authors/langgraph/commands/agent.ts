// Pattern: nodes that choose the next node and update the state in one step, instead of edges that are drawn.
import { AIMessage } from '@langchain/core/messages'
import { Annotation, Command, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'
import { lastText } from '../../kit/fake-model.ts'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  route: Annotation<string>(),
  tries: Annotation<number>({ reducer: (tries, more) => tries + more, default: () => 0 }),
})

export const resumable = true
export const graph = new StateGraph(State)
  .addNode(
    'triage',
    async ({ messages }) => {
      await effect('commands/triage')
      const route = lastText(messages).includes('refund') ? 'billing' : 'support'
      return new Command({ goto: route, update: { route } })
    },
    { ends: ['billing', 'support'] },
  )
  .addNode(
    'billing',
    async ({ tries }) => {
      await effect(`commands/billing ${tries}`)
      if (tries < 2) return new Command({ goto: 'billing', update: { tries: 1 } })
      return new Command({ goto: END, update: { messages: [new AIMessage(`refunded after ${tries} tries`)] } })
    },
    { ends: ['billing', END] },
  )
  .addNode('support', async () => {
    await effect('commands/support')
    return { messages: [new AIMessage('support will call')] }
  })
  .addEdge(START, 'triage')
  .compile()
