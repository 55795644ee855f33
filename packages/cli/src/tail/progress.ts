import type { ConnectionState } from '@millrace/core'
import { coloursOf } from '../terminal.ts'

/** How many events come between two updates. */
const step = 1000

/** What stands on standard error while events come: a count during a long catch-up, and why a stream waits. */
export interface CatchUpLine {
  row(seq: number): void
  state(state: ConnectionState): void
  end(): void
}

/** On a terminal the count is one line that is written over; where the output itself is on that terminal, there is none. */
export function progressOf(after: number): CatchUpLine {
  const { faint, warn } = coloursOf(process.stderr)
  const counts = process.stderr.isTTY === true && process.stdout.isTTY !== true
  let rows = 0
  let shown = false
  const clear = (): void => {
    if (shown) process.stderr.write('\r\u001b[K')
    shown = false
  }
  return {
    row(seq) {
      rows++
      if (!counts || rows % step !== 0) return
      process.stderr.write(`\r\u001b[K${faint(`${rows.toLocaleString('en-US')} events, at number ${seq}`)}`)
      shown = true
    },
    state(state) {
      clear()
      if (state.phase !== 'waiting') return
      const from = after + rows === 0 ? '' : `, then goes on after ${rows.toLocaleString('en-US')} events`
      process.stderr.write(warn(`millrace: ${state.reason}; tries again (${state.attempt})${from}\n`))
    },
    end: clear,
  }
}
