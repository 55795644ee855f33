import { LlmAgent, LongRunningFunctionTool } from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: a tool begins something that takes days and answers "pending"; its result comes in a later message.

const script = scripted('long-running')
const approve = new LongRunningFunctionTool({
  name: 'ask_manager',
  description: 'Asks a manager to approve an expense',
  parameters: z.object({ amount: z.number() }),
  execute: async ({ amount }, context) => {
    await script.effect(`ask for ${amount}`, context?.functionCallId)
    context?.state.set('asked_for', amount)
    return { status: 'pending', ticket: `T-${amount}` }
  },
})

export const resumable = true
export const rootAgent = new LlmAgent({
  name: 'clerk',
  model: script.model(({ text, results }) => {
    if (!text.startsWith('expense')) return 'I am still waiting for the manager.'
    const [answer] = results
    if (answer === undefined) return call('ask_manager', { amount: Number(text.split(' ')[1]) })
    return answer.response.status === 'pending'
      ? 'The manager has been asked.'
      : `The manager says: ${answer.response.status}.`
  }),
  tools: [approve],
  outputKey: 'last_answer',
})
