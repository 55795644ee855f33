// Pattern: createAgent with tools and middleware: state of its own, a hook before and after the model, a wrapped tool call.
import { tool } from '@langchain/core/tools'
import { createAgent, createMiddleware } from 'langchain'
import * as z from 'zod/v4'
import { effect } from '../../kit/effect.ts'
import { FakeModel, lastText } from '../../kit/fake-model.ts'

const weather = tool(
  async ({ city }) => {
    await effect(`middleware/tools ${city}`)
    return `sunny in ${city}`
  },
  { name: 'weather', description: 'The weather of a city.', schema: z.object({ city: z.string() }) },
)

const counting = createMiddleware({
  name: 'counting',
  stateSchema: z.object({ calls: z.number().default(0), checked: z.boolean().default(false) }),
  beforeModel: ({ calls }) => ({ calls: calls + 1 }),
  afterModel: () => ({ checked: true }),
})
const shouting = createMiddleware({
  name: 'shouting',
  wrapToolCall: async (request, handler) => {
    const answer = await handler(request)
    if ('content' in answer) answer.content = String(answer.content).toUpperCase()
    return answer
  },
})

const model = new FakeModel((messages) => {
  const last = messages.at(-1)
  if (last?.getType() !== 'tool')
    return { calls: [{ id: 'call-1', name: 'weather', args: { city: lastText(messages) } }] }
  return { text: `The weather is ${lastText(messages)}.` }
})

export const resumable = true
export const agent = createAgent({ model, tools: [weather], middleware: [counting, shouting] })
