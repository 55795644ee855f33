import type { RawRecorded, Recorded, RunEvent } from '@millrace/core'
import { storeFailed } from './store-error.ts'

/** Parses the body of a row. Every body was written from a RunEvent, so text that is not JSON means a damaged file. */
export function recordedOf({ seq, at, run, body }: RawRecorded): Recorded {
  try {
    const event: RunEvent = JSON.parse(body)
    return { seq, at, run, event }
  } catch (cause) {
    throw storeFailed('damaged', `event ${seq}`, 'read', { seq }, cause)
  }
}
