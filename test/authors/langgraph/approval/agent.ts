// Pattern: createAgent with human-in-the-loop middleware. A person approves, edits or rejects each call of a tool.
import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent, humanInTheLoopMiddleware } from 'langchain'
import * as z from 'zod/v4'
import { effect } from '../../kit/effect.ts'
import { FakeModel, lastText } from '../../kit/fake-model.ts'

const mail = tool(
  async ({ to }) => {
    await effect(`approval/tools ${to}`)
    return `sent to ${to}`
  },
  { name: 'mail', description: 'Sends a mail.', schema: z.object({ to: z.string() }) },
)

const model = new FakeModel((messages) => {
  const last = messages.at(-1)
  if (last?.getType() !== 'tool')
    return { calls: [{ id: `call-${messages.length}`, name: 'mail', args: { to: 'ann' } }] }
  return { text: `The mail tool says: ${lastText(messages)}` }
})

export const resumable = true
export const agent = createAgent({
  model,
  tools: [mail],
  middleware: [
    // @ts-expect-error its types compile only without `exactOptionalPropertyTypes`
    humanInTheLoopMiddleware({ interruptOn: { mail: { allowedDecisions: ['approve', 'edit', 'reject'] } } }),
  ],
  checkpointer: new MemorySaver(),
})
