import { FunctionTool, LlmAgent } from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: the prefixes of state (none, user:, app:, temp:), output keys, and templates in the instruction.

const script = scripted('state')
const remember = new FunctionTool({
  name: 'remember',
  description: 'Remembers the name of the person',
  parameters: z.object({ name: z.string() }),
  execute: async ({ name }, context) => {
    await script.effect(`remember ${name}`, context?.functionCallId)
    context?.state.set('user:name', name)
    context?.state.set('app:motto', 'Grind fine')
    context?.state.set('temp:draft', `a note about ${name}`)
    context?.state.set('topic', { of: 'this session', list: [1, { deep: [2, { deeper: 3 }] }] })
    return { noted: context?.state.get('temp:draft') }
  },
})

export const resumable = true
export const rootAgent = new LlmAgent({
  name: 'host',
  instruction: 'Motto: {app:motto?}. Name: {user:name?}. Topic: {topic?}. Scratch: {temp:draft?}.',
  model: script.model(({ text, results, instruction }) => {
    const [word, name = ''] = text.split(' ')
    if (word === 'remember') return results.length === 0 ? call('remember', { name }) : 'I have noted that.'
    return /Motto: .*?\. Name: .*?\./.exec(instruction)?.[0] ?? 'I know nothing.'
  }),
  tools: [remember],
  outputKey: 'last_answer',
})
