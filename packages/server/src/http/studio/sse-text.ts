import { printFrame } from '@millrace/core'

/** One event of a stream that does not come from a log. */
export function sseText(event: string, data: string): string {
  return printFrame({ event, data })
}
