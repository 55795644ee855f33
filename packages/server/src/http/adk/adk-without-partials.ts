import { adk, type Dialect, isPartial } from '@millrace/core'

/** ADK's answer to `/run_sse` without streaming: no partials. A reload of the session shows the same events. */
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
        return event.kind === 'agent' && isPartial(event.event) ? [] : frames
      },
    }
  },
}
