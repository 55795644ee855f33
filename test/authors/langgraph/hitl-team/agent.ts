// Pattern: createAgent with several middlewares and a state of its own. It plans, and a person reviews two calls at once.
import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import {
  createAgent,
  createMiddleware,
  humanInTheLoopMiddleware,
  summarizationMiddleware,
  todoListMiddleware,
} from 'langchain'
import * as z from 'zod/v4'
import { effect } from '../../kit/effect.ts'
import { FakeModel } from '../../kit/fake-model.ts'

const send = tool(
  async ({ to }) => {
    await effect(`hitl-team/tools send ${to}`)
    return `sent to ${to}`
  },
  { name: 'send', description: 'Sends a mail', schema: z.object({ to: z.string() }) },
)
const look = tool(
  async ({ name }) => {
    await effect(`hitl-team/tools look ${name}`)
    return `found ${name}`
  },
  { name: 'look', description: 'Looks somebody up', schema: z.object({ name: z.string() }) },
)

const model = new FakeModel((messages) => {
  const results = messages.filter((each) => each.getType() === 'tool').length
  const turn = messages.slice(messages.findLastIndex((each) => each.getType() === 'human') + 1)
  if (turn.length === 0) {
    const todos = [{ content: 'mail', status: 'in_progress' }]
    return { text: 'Planning.', calls: [{ id: `t${results}`, name: 'write_todos', args: { todos } }] }
  }
  if (turn.filter((each) => each.getType() === 'tool').length > 1) return { text: `Done after ${results} results.` }
  return {
    calls: [
      { id: `l${results}`, name: 'look', args: { name: 'ann' } },
      { id: `s${results}`, name: 'send', args: { to: 'ann' } },
      { id: `u${results}`, name: 'send', args: { to: 'bob' } },
    ],
  }
})

const counter = createMiddleware({
  name: 'counter',
  stateSchema: z.object({ rounds: z.number().default(0) }),
  beforeModel: async ({ rounds }) => ({ rounds: rounds + 1 }),
})

export const resumable = true
export const agent = createAgent({
  model,
  tools: [send, look],
  stateSchema: z.object({ customer: z.string().default('ACME') }),
  middleware: [
    counter,
    // @ts-expect-error its types compile only without `exactOptionalPropertyTypes`
    todoListMiddleware(),
    // @ts-expect-error as above
    summarizationMiddleware({ model, trigger: { messages: 14 }, keep: { messages: 4 } }),
    // @ts-expect-error as above
    humanInTheLoopMiddleware({ interruptOn: { send: { allowedDecisions: ['approve', 'edit', 'reject'] } } }),
  ],
  checkpointer: new MemorySaver(),
})
