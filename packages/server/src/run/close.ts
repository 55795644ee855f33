import type { Draft, EventLog, Lease, NodeFinished, Outcome, RunEvent, RunFinished } from '@millrace/core'
import { RunLedger } from './ledger.ts'

/** The last events of a run, in order: what it left open is closed, then its one `run.finished` (SPEC 4.1). */
export function closing(ledger: RunLedger, ending: RunFinished): readonly RunEvent[] {
  const usage = ending.usage ?? ledger.usage
  const waits = ending.outcome === 'interrupted'
  return [
    ...ledger.openNodes.map((node) => closedNode(node, ending)),
    // A question whose run did not wait for the answer is not open: nobody must answer it to go on.
    ...(waits ? [] : ledger.openInterrupts).map(
      (interrupt): RunEvent => ({ kind: 'resumed', interrupt, status: 'cancelled' }),
    ),
    usage === undefined ? ending : { ...ending, usage },
  ]
}

function closedNode(node: string, { outcome, error }: RunFinished): NodeFinished {
  if (outcome === 'done' || outcome === 'interrupted') return { kind: 'node.finished', node, status: 'ok' }
  const code = outcome === 'cancelled' ? 'cancelled' : 'agent-error'
  return {
    kind: 'node.finished',
    node,
    status: 'error',
    error: error ?? { code, message: outcome === 'cancelled' ? 'the run was cancelled' : 'the run failed' },
  }
}

/** What became of closing a run: how it ended, and whether that was our doing. Undefined for one that never started. */
export interface Closed {
  readonly outcome: Outcome
  readonly wrote: boolean
}

/**
 * Ends a run that nobody drives any more, from what the log says of it. One that has its end keeps it: so this can be
 * repeated after a write whose fate is unknown.
 */
export async function closeRun(log: EventLog, lease: Lease, ending: RunFinished): Promise<Closed | undefined> {
  const rows = (await log.read(lease.session, { after: 0 })).filter(({ run }) => run === lease.run)
  if (rows.length === 0) return undefined
  const ledger = RunLedger.of(rows, lease.run)
  if (ledger.ending !== undefined) return { outcome: ledger.ending.outcome, wrote: false }
  await log.append(lease.session, draftsOf(lease.run, closing(ledger, ending)), lease)
  return { outcome: ending.outcome, wrote: true }
}

export function draftsOf(run: string, events: readonly RunEvent[]): readonly Draft[] {
  return events.map((event) => ({ run, event }))
}
