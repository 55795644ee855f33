import { FunctionTool, LlmAgent, ParallelAgent, SequentialAgent } from '@google/adk'
import { z } from '@millrace/server/adk'
import { call, scripted } from '../scripted-model.ts'

// Pattern: fan out to researchers that work at the same time, then gather what they found.

const script = scripted('parallel')
const researcher = (topic: string): LlmAgent =>
  new LlmAgent({
    name: `${topic}_researcher`,
    model: script.model(({ results }) =>
      results.length === 0 ? call(`search_${topic}`, { query: topic }) : `${topic}: ${results[0]?.response.found}`,
    ),
    tools: [
      new FunctionTool({
        name: `search_${topic}`,
        description: 'Searches',
        parameters: z.object({ query: z.string() }),
        execute: async ({ query }, context) => {
          await script.effect(`search ${query}`, context?.functionCallId)
          context?.state.set(`${query}_searched`, true)
          return { found: `three ${query}` }
        },
      }),
    ],
    outputKey: topic,
  })
const gather = new LlmAgent({
  name: 'gatherer',
  instruction: 'Combine: {rivers} / {wheels} / {stones}',
  model: script.model(({ instruction }) => `All of it: ${/Combine: (.*)/.exec(instruction)?.[1]}.`),
  outputKey: 'summary',
})

export const resumable = true
export const rootAgent = new SequentialAgent({
  name: 'study',
  subAgents: [new ParallelAgent({ name: 'fan', subAgents: ['rivers', 'wheels', 'stones'].map(researcher) }), gather],
})
