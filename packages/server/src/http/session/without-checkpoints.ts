import { type Dialect, isCallRecord, isModelCall, type RunEvent } from '@millrace/core'
import { isEngineRecord } from '../../agent/engines.ts'

/**
 * The dialect without what an agent engine notes in the log: the checkpoints that it keeps for its own use, and the
 * calls of models, which only Studio's clients show.
 */
export function withoutCheckpoints(dialect: Dialect): Dialect {
  return {
    name: dialect.name,
    fromFacts: dialect.fromFacts === true,
    decoder: (options) => dialect.decoder(options),
    recognises: (frame, value) => dialect.recognises(frame, value),
    encoder(options) {
      const isNote = (event: RunEvent): boolean =>
        isEngineRecord(event) || (isCallRecord(event) && !(dialect.name === 'studio' && isModelCall(event)))
      const encoder = dialect.encoder(options)
      return {
        push: (recorded) => (isNote(recorded.event) ? [] : encoder.push(recorded)),
        // Engines keep no partials for their own use.
        pushRaw: (row) => (row.kind === 'partial' ? encoder.pushRaw?.(row) : undefined),
        prelude: () => encoder.prelude(),
      }
    },
  }
}
