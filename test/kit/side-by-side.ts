import { fold, type Recorded, type RunEvent, timelineView } from '@millrace/core'

/** Two pieces of work that begin together, on a clock of their own: the quick one takes 100 ms, the slow one 650. */
export function sideBySide() {
  let clock = 0
  const [slowBegan, slowBegins] = gate()
  const [quickEnded, quickEnds] = gate()
  return {
    now: () => clock,
    onEvent: (event: RunEvent): void => {
      if (event.kind === 'node.finished' && /\bquick@/.test(event.node)) quickEnds()
    },
    quick: async (): Promise<string> => {
      await slowBegan
      clock = 100
      return 'quick'
    },
    slow: async (): Promise<string> => {
      slowBegins()
      await quickEnded
      clock = 650
      return 'slow'
    },
  }
}

function gate(): readonly [opened: Promise<void>, open: () => void] {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return [opened, open]
}

/** What the timeline shows of each agent where a busy server has written all ends of nodes in one commit. */
export function durationsOf(rows: readonly Recorded[]): Readonly<Record<string, number | undefined>> {
  const late = rows.map((row) => ({ ...row, at: row.event.kind === 'node.finished' ? 906 : 0 }))
  const executions = fold(timelineView, late).executions.toArray()
  return Object.fromEntries(executions.map(({ agent, duration }) => [agent, duration]))
}
