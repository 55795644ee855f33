import type { Dialect } from '@millrace/core'
import { isCheckpoint } from '../../agent/langgraph/checkpoint.ts'

/** The dialect without the checkpoints that an agent engine keeps in the log for its own use. */
export function withoutCheckpoints(dialect: Dialect): Dialect {
  return {
    name: dialect.name,
    decoder: (options) => dialect.decoder(options),
    encoder(options) {
      const encoder = dialect.encoder(options)
      return {
        push: (recorded) => (isCheckpoint(recorded.event) ? [] : encoder.push(recorded)),
        prelude: () => encoder.prelude(),
      }
    },
  }
}
