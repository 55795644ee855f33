import { LlmAgent } from '@google/adk'
import { call, model, type OfflineRequest, type OfflineTurn, say } from '@millrace/server/adk'

// Hands every question over to another agent.

const expert = new LlmAgent({
  name: 'expert',
  description: 'Answers.',
  model: model({ offline: ({ user }: OfflineRequest): OfflineTurn => say(`The expert heard ${user}.`) }),
})

export const rootAgent = new LlmAgent({
  name: 'router',
  description: 'Hands over to the expert.',
  model: model({ offline: (): OfflineTurn => call('transfer_to_agent', { agentName: 'expert' }) }),
  subAgents: [expert],
})
