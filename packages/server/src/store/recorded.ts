import type { RawRecorded, Recorded, RunEvent } from '@millrace/core'
import { storeFailed } from './store-error.ts'

/** The body was written by us, from a RunEvent: text that is no JSON is a damaged file. */
export function recordedOf({ seq, at, run, body }: RawRecorded): Recorded {
  try {
    const event: RunEvent = JSON.parse(body)
    return { seq, at, run, event }
  } catch (cause) {
    throw storeFailed('damaged', `event ${seq}`, 'read', { seq }, cause)
  }
}
