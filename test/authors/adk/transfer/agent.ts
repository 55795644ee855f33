import { FunctionTool, LlmAgent } from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: a coordinator hands the conversation to a sub-agent, which hands it to its sibling.

const script = scripted('transfer')
const refund = new FunctionTool({
  name: 'refund',
  description: 'Refunds an order',
  parameters: z.object({ order: z.string() }),
  execute: async ({ order }, context) => {
    await script.effect(`refund ${order}`, context?.functionCallId)
    context?.state.set('refunded', order)
    return { refunded: order }
  },
})
const billing = new LlmAgent({
  name: 'billing',
  description: 'Handles money',
  model: script.model(({ text, results }) => {
    if (text.includes('broken')) return call('transfer_to_agent', { agentName: 'support' })
    return results.length === 0 ? call('refund', { order: 'A7' }) : 'Order A7 is refunded.'
  }),
  tools: [refund],
})
const support = new LlmAgent({
  name: 'support',
  description: 'Handles broken things',
  model: script.model(() => 'Try to turn the wheel by hand.'),
  outputKey: 'advice',
})

export const resumable = true
export const rootAgent = new LlmAgent({
  name: 'coordinator',
  instruction: 'Transfer to the agent that can help.',
  model: script.model(() => call('transfer_to_agent', { agentName: 'billing' })),
  subAgents: [billing, support],
})
