import type { Dialect } from '@millrace/core'
import { isEngineRecord } from '../../agent/engines.ts'

/** A dialect that leaves out what an engine keeps in the log for itself: checkpoints are bytes, not something said. */
export function withoutCheckpoints(dialect: Dialect): Dialect {
  return {
    name: dialect.name,
    decoder: (options) => dialect.decoder(options),
    recognises: (frame, value) => dialect.recognises(frame, value),
    encoder(options) {
      const encoder = dialect.encoder(options)
      return {
        push: (recorded) => (isEngineRecord(recorded.event) ? [] : encoder.push(recorded)),
        prelude: () => encoder.prelude(),
      }
    },
  }
}
