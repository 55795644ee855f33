import type { Recorded } from '@millrace/core'

/**
 * The invocation id of each run. It is the run's own id, except in recordings, whose events have the id that their source
 * gave them. Messages, made events and spans of a run carry the same id as its events, because adk-web groups by it.
 */
export function invocations(rows: readonly Recorded[]): (run: string) => string {
  const ids = new Map<string, string>()
  for (const { run, event } of rows) {
    if (event.kind !== 'agent' || event.event.invocationId === '' || ids.has(run)) continue
    ids.set(run, event.event.invocationId)
  }
  return (run) => ids.get(run) ?? run
}
