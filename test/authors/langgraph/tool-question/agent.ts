// Pattern: an agent of createAgent whose tool asks a person itself, and writes to the state with a command.
import { ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { Command, interrupt, MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import * as z from 'zod/v4'
import { effect } from '../../kit/effect.ts'
import { FakeModel } from '../../kit/fake-model.ts'

const book = tool(
  async ({ city }: { city: string }, config) => {
    const answer: string = interrupt({ question: `Book a room in ${city}?` })
    await effect(`tool-question/tools ${city}`)
    const content = `${city}: ${answer}`
    const done = new ToolMessage({ content, name: 'book', tool_call_id: String(config.toolCall?.id) })
    return new Command({ update: { messages: [done] } })
  },
  { name: 'book', description: 'Books a room.', schema: z.object({ city: z.string() }) },
)
const model = new FakeModel((messages) => {
  const answers = messages.filter((message) => message.getType() === 'tool')
  if (answers.length > 0) return { text: answers.map(({ text }) => text).join('; ') }
  return {
    text: 'Let me see.',
    calls: [
      { id: 'b1', name: 'book', args: { city: 'Rome' } },
      { id: 'b2', name: 'book', args: { city: 'Oslo' } },
    ],
  }
})

export const resumable = true
export const agent = createAgent({ model, tools: [book], checkpointer: new MemorySaver() })
