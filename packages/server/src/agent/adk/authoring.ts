// Everything that the authors of ADK agents import, as `@millrace/server/adk`. It imports @google/adk, as their files
// do. The server itself (`@millrace/server`) does not, until an agent is first used.

import '../model/silence-adk-logger.ts'

/** For tool parameters: an agent's folder needs no packages of its own. */
export { z } from 'zod'

export { type ModelOptions, model } from '../model/model.ts'
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
} from '../model/offline.ts'
export { confirm } from './confirm.ts'
export { type ProofLayer, proofLayer } from './proof-layer.ts'
export { specialist, specialists } from './specialist.ts'
