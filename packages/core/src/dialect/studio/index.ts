import type { Dialect } from '../dialect.ts'
import { StudioDecoder } from './decoder.ts'
import { StudioEncoder } from './encoder.ts'
import { isStudioFrame } from './wire.ts'

/**
 * ADK Studio's SSE schema v2. Printed exactly as the schema shows it; read as the schema shows it and as ADK Studio's
 * own server really sends it. See docs/wires/studio.md.
 *
 * Beyond the schema, and only where the log has a value: `id` on calls and results, `node_id`, `parent`, `after` and
 * `call` on nodes, `status`, `error` and `code` on the end of a node that failed, `outcome` and `problem` on `done`,
 * the events `thinking`, `debug`, `interrupt` and `resume` of ADK Studio, and its `agent` before the text of a node
 * that is not the one that started last.
 *
 * A run lasts from `session` to `end`. An `error` in between makes it failed; without `end` it was cut off.
 */
export const studio: Dialect = {
  name: 'studio',
  decoder: (options) => new StudioDecoder(options),
  encoder: (options) => new StudioEncoder(options),
  recognises: isStudioFrame,
  fromFacts: true,
}
