import { type AdkEvent, adk, type Dialect, isPartial } from '@millrace/core'
import { isNested } from '../../agent/nested-event.ts'

/** ADK's answer to `/run`, and to `/run_sse` without streaming: no partials, and no events from inside a function call. */
export const adkWithoutPartials = without('adk-whole', (event) => isPartial(event) || isNested(event))

/** Without partials, but with every author: what a reload of the session shows. */
export const adkEveryAuthor = without('adk-authors', isPartial)

function without(name: string, isLeftOut: (event: AdkEvent) => boolean): Dialect {
  return {
    ...adk,
    name,
    encoder(options) {
      const encoder = adk.encoder(options)
      return {
        prelude: () => encoder.prelude(),
        // Both leave out partials.
        pushRaw: (row) => (row.kind === 'partial' && encoder.pushRaw?.(row) !== undefined ? [] : undefined),
        push(recorded) {
          const frames = encoder.push(recorded)
          const { event } = recorded
          return event.kind === 'agent' && isLeftOut(event.event) ? [] : frames
        },
      }
    },
  }
}
