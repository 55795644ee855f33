import { FunctionTool, LlmAgent, SequentialAgent } from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: a pipeline whose agents hand over by output keys, which the next instruction has as a template.

const script = scripted('sequential')
const file = new FunctionTool({
  name: 'file_draft',
  description: 'Files a draft under a title',
  parameters: z.object({ title: z.string() }),
  execute: async ({ title }, context) => {
    await script.effect(`file ${title}`, context?.functionCallId)
    context?.state.set('title', title)
    return { filed: title }
  },
})
const writer = new LlmAgent({
  name: 'writer',
  instruction: 'Write about what the person names.',
  model: script.model(({ results }) =>
    results.length === 0 ? call('file_draft', { title: 'Mills' }) : 'A race turns the wheel.',
  ),
  tools: [file],
  outputKey: 'draft',
})
const reviewer = new LlmAgent({
  name: 'reviewer',
  instruction: 'Review this draft with the title {title}: {draft}',
  model: script.model(({ instruction }) =>
    instruction.includes('title Mills: A race turns') ? 'Say which wheel.' : 'There is no draft.',
  ),
  outputKey: 'review',
})
const editor = new LlmAgent({
  name: 'editor',
  instruction: 'Draft: {draft} Review: {review}',
  model: script.model(({ instruction }) =>
    instruction.includes('which wheel') ? 'A race turns the mill wheel.' : 'There is no review.',
  ),
  outputKey: 'final',
})

export const resumable = true
export const rootAgent = new SequentialAgent({ name: 'pipeline', subAgents: [writer, reviewer, editor] })
