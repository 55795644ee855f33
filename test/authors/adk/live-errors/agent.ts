import { FunctionTool, LlmAgent } from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: a tool that throws, and a model whose provider refuses; the conversation goes on after both.

const script = scripted('live-errors')
const open = new FunctionTool({
  name: 'open_gate',
  description: 'Opens a gate',
  parameters: z.object({ gate: z.string() }),
  execute: async ({ gate }, context) => {
    await script.effect(`open ${gate}`, context?.functionCallId)
    if (gate === 'rusty') throw new Error('the gate does not move')
    return { opened: gate }
  },
})

export const resumable = true
export const rootAgent = new LlmAgent({
  name: 'gatekeeper',
  model: script.model(({ text, results }) => {
    if (text === 'overload') throw new Error(JSON.stringify({ error: { code: 429, message: 'the quota is used up' } }))
    const [, ...gates] = text.split(' ')
    const next = gates[results.length]
    if (next !== undefined) return call('open_gate', { gate: next })
    return results.map(({ response }) => response.error ?? `opened ${response.opened}`).join('; ') || 'Nothing to open.'
  }),
  tools: [open],
  outputKey: 'last_answer',
})
