import { EXIT_LOOP, FunctionTool, LlmAgent, LoopAgent, SequentialAgent } from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: a critic and a refiner take turns until the refiner calls the tool that leaves the loop.

const script = scripted('loop')
const drafter = new LlmAgent({ name: 'drafter', model: script.model(() => 'Water falls.'), outputKey: 'draft' })
const critic = new LlmAgent({
  name: 'critic',
  instruction: 'Criticise: {draft}',
  model: script.model(({ instruction }) => (instruction.includes('slowly') ? 'It is good.' : 'It is too short.')),
  outputKey: 'critique',
})
const replace = new FunctionTool({
  name: 'replace_draft',
  description: 'Replaces the draft',
  parameters: z.object({ draft: z.string() }),
  execute: async ({ draft }, context) => {
    await script.effect(`replace ${draft}`, context?.functionCallId)
    context?.state.set('draft', draft)
    context?.state.set('rounds', (context.state.get<number>('rounds') ?? 0) + 1)
    return { replaced: true }
  },
})
const refiner = new LlmAgent({
  name: 'refiner',
  instruction: 'Draft: {draft} Critique: {critique}',
  model: script.model(({ instruction, results }) => {
    if (results.length > 0) return 'I have replaced it.'
    if (instruction.includes('It is good.')) return call('exit_loop')
    const draft = instruction.includes('onto the wheel')
      ? 'Water falls onto the wheel, slowly.'
      : 'Water falls onto the wheel.'
    return call('replace_draft', { draft })
  }),
  tools: [replace, EXIT_LOOP],
})
const teller = new LlmAgent({
  name: 'teller',
  instruction: 'Tell: {draft}',
  model: script.model(({ instruction }) => (instruction.includes('slowly') ? 'Ready: it falls slowly.' : 'Not ready.')),
})

export const resumable = true
export const rootAgent = new SequentialAgent({
  name: 'refinement',
  subAgents: [drafter, new LoopAgent({ name: 'rounds', maxIterations: 5, subAgents: [critic, refiner] }), teller],
})
