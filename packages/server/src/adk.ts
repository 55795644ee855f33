// What authors of ADK agents import, as `@millrace/server/adk`. It imports @google/adk, as their files do; the server
// itself (`@millrace/server`) does not until an agent is first used.

import './agent/adk/silence-adk-logger.ts'

/** For tool parameters: an agent's folder needs no packages of its own. */
export { z } from 'zod'

export { confirm } from './agent/adk/confirm.ts'
export { type ProofLayer, proofLayer } from './agent/adk/proof-layer.ts'
export { specialist, specialists } from './agent/adk/specialist.ts'
export { type ModelOptions, model } from './agent/model/model.ts'
export {
  call,
  fail,
  type OfflineAgentScript,
  type OfflinePart,
  type OfflineRequest,
  type OfflineResult,
  type OfflineScript,
  type OfflineTurn,
  say,
  think,
} from './agent/model/offline.ts'
