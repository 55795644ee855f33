import { adk, type Dialect, isPartial } from '@millrace/core'
import { isNested } from '../../agent/nested-event.ts'

/** ADK's answer to `/run`, and to `/run_sse` without streaming: no partials, and no events from inside a function call. */
export const adkWithoutPartials: Dialect = {
  ...adk,
  name: 'adk-whole',
  encoder(options) {
    const encoder = adk.encoder(options)
    return {
      prelude: () => encoder.prelude(),
      pushRaw: (row) => (row.kind === 'partial' && encoder.pushRaw?.(row) !== undefined ? [] : undefined),
      push(recorded) {
        const frames = encoder.push(recorded)
        const { event } = recorded
        if (event.kind !== 'agent') return frames
        return isPartial(event.event) || isNested(event.event) ? [] : frames
      },
    }
  },
}
