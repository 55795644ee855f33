import type { Encoder } from '../dialect.ts'
import { printRecorded } from './wire.ts'

export function millraceEncoder(): Encoder {
  return {
    push: (recorded) => [{ data: printRecorded(recorded) }],
    prelude: () => [],
  }
}
