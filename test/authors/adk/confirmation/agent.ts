import { FunctionTool, LlmAgent } from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: a tool that a person has to confirm before it runs.

const script = scripted('confirmation')
const drain = new FunctionTool({
  name: 'drain',
  description: 'Drains a pond',
  parameters: z.object({ pond: z.string() }),
  requireConfirmation: true,
  execute: async ({ pond }, context) => {
    await script.effect(`drain ${pond}`, context?.functionCallId)
    context?.state.set('drained', pond)
    return { drained: pond }
  },
})

export const resumable = true
export const rootAgent = new LlmAgent({
  name: 'warden',
  model: script.model(({ text, results }) => {
    const [answer] = results
    if (answer === undefined) return call('drain', { pond: text.split(' ')[1] ?? '' })
    return answer.response.drained === undefined
      ? 'The pond stays full.'
      : `The ${answer.response.drained} pond is empty.`
  }),
  tools: [drain],
})
