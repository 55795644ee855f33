import { LlmAgent, LOAD_MEMORY } from '@google/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: each conversation is added to the memory when the agent has answered, and a later one searches it.

const script = scripted('memory')

export const resumable = true
export const rootAgent = new LlmAgent({
  name: 'keeper',
  model: script.model(({ text, results }) => {
    if (!text.startsWith('recall')) return 'I will keep that in mind.'
    const [found] = results
    if (found === undefined) return call('load_memory', { query: text.slice('recall '.length) })
    const { memories } = found.response as { memories: { author: string; content: string }[] }
    return memories.map(({ author, content }) => `${author} said: ${content}`).join(' | ') || 'I recall nothing.'
  }),
  tools: [LOAD_MEMORY],
  afterAgentCallback: async ({ invocationContext }) => {
    await invocationContext.memoryService?.addSessionToMemory(invocationContext.session)
    await script.step()
    return undefined
  },
})
