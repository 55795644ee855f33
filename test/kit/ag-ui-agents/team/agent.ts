import { LlmAgent, ParallelAgent } from '@google/adk'
import { call, model, type OfflineRequest, type OfflineTurn, say, think } from '@millrace/server/adk'
import { textTool } from '../text-tool.ts'

// Two agents side by side: each thinks, calls a tool and speaks.

const search = textTool('search', 'Searches one side.', ['side'], ({ side }) => ({ found: side }))

const searcher = (side: string): LlmAgent =>
  new LlmAgent({
    name: side,
    description: `Searches on the ${side}.`,
    model: model({
      offline: ({ step }: OfflineRequest): OfflineTurn =>
        step === 0 ? [think(`Look ${side}.`), call('search', { side })] : say(`Found on the ${side}.`),
    }),
    tools: [search],
  })

export const rootAgent = new ParallelAgent({
  name: 'team',
  description: 'Searches on both sides at once.',
  subAgents: [searcher('left'), searcher('right')],
})
