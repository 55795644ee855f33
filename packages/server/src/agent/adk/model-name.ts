import { isLlmAgent } from '@google/adk'
import { ChosenLlm } from '../model/model.ts'
import type { ModelSettings } from '../model/settings.ts'

/** The name of the model that an agent calls with these settings; what its request says where the agent names none. */
export function modelName(agent: unknown, settings: ModelSettings, requested = ''): string {
  if (!isLlmAgent(agent)) return requested
  try {
    const model = agent.canonicalModel
    return model instanceof ChosenLlm ? model.choose(settings).name : model.model
  } catch {
    return requested
  }
}
