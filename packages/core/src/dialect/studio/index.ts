import type { Dialect } from '../dialect.ts'
import { StudioDecoder } from './decoder.ts'
import { StudioEncoder } from './encoder.ts'
import { isStudioFrame } from './wire.ts'

/**
 * ADK Studio's SSE schema v2 (seed 000). Printed exactly as the seed shows it; read as the seed shows it and as ADK
 * Studio's own server really sends it.
 *
 * Beyond the seed, and only where the log has something to say: `id` on calls and results, `node_id`, `parent`, `after`
 * and `call` on nodes, `status`, `error` and `code` on the end of a node that failed, `outcome` and `problem` on `done`,
 * the events `thinking`, `debug`, `interrupt` and `resume` of ADK Studio, and its `agent` before the text of a node that
 * is not the one that started last.
 *
 * A run is what lies between `session` and `end`. An `error` before that makes it failed; without `end` it is cut off.
 */
export const studio: Dialect = {
  name: 'studio',
  decoder: (options) => new StudioDecoder(options),
  encoder: (options) => new StudioEncoder(options),
  recognises: isStudioFrame,
}
