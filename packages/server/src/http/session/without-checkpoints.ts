import type { Dialect } from '@millrace/core'
import { isEngineRecord } from '../../agent/engines.ts'

/** The dialect without the checkpoints that an agent engine keeps in the log for its own use. */
export function withoutCheckpoints(dialect: Dialect): Dialect {
  return {
    name: dialect.name,
    fromFacts: dialect.fromFacts === true,
    decoder: (options) => dialect.decoder(options),
    recognises: (frame, value) => dialect.recognises(frame, value),
    encoder(options) {
      const encoder = dialect.encoder(options)
      return {
        push: (recorded) => (isEngineRecord(recorded.event) ? [] : encoder.push(recorded)),
        // Engines keep no partials for their own use.
        pushRaw: (row) => (row.kind === 'partial' ? encoder.pushRaw?.(row) : undefined),
        prelude: () => encoder.prelude(),
      }
    },
  }
}
