import { AgentTool, FunctionTool, LlmAgent } from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: an agent is a tool of another one, which stays in control and uses its answer.

const script = scripted('agent-tool')
const measure = new FunctionTool({
  name: 'measure',
  description: 'Measures the flow of a race',
  parameters: z.object({ race: z.string() }),
  execute: async ({ race }, context) => {
    await script.effect(`measure ${race}`, context?.functionCallId)
    context?.state.set('measured', race)
    return { litres: 400 }
  },
})
const hydrologist = new LlmAgent({
  name: 'hydrologist',
  description: 'Knows how much water flows',
  model: script.model(({ text, results }) =>
    results.length === 0 ? call('measure', { race: text }) : `${text} carries ${results[0]?.response.litres} litres.`,
  ),
  tools: [measure],
  outputKey: 'flow',
})

export const resumable = true
export const rootAgent = new LlmAgent({
  name: 'miller',
  instruction: 'Ask the hydrologist.',
  model: script.model(({ results }) => {
    if (results.length < 2) return call('hydrologist', { request: results.length === 0 ? 'North' : 'South' })
    return `I know: ${results.map(({ response }) => response.result).join(' ')}`
  }),
  tools: [new AgentTool({ agent: hydrologist })],
  outputKey: 'answer',
})
