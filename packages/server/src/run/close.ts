import type { Draft, EventLog, Lease, NodeFinished, Outcome, RunEvent, RunFinished } from '@millrace/core'
import { RunLedger } from './ledger.ts'

/** The last events of a run: they close what it left open; the very last is its one `run.finished` (SPEC 4.1). */
export function closing(ledger: RunLedger, ending: RunFinished): readonly RunEvent[] {
  const usage = ending.usage ?? ledger.usage
  const waits = ending.outcome === 'interrupted'
  return [
    ...ledger.openNodes.map((node) => closedNode(node, ending)),
    // A question whose run ended without waiting for the answer is closed: the next run need not answer it.
    ...(waits ? [] : ledger.openInterrupts).map(
      (interrupt): RunEvent => ({ kind: 'resumed', interrupt, status: 'cancelled' }),
    ),
    usage === undefined ? ending : { ...ending, usage },
  ]
}

function closedNode(node: string, { outcome, error }: RunFinished): NodeFinished {
  if (outcome === 'done') return { kind: 'node.finished', node, status: 'ok' }
  if (outcome === 'interrupted') return { kind: 'node.finished', node, status: 'interrupted' }
  const code = outcome === 'cancelled' ? 'cancelled' : 'agent-error'
  return {
    kind: 'node.finished',
    node,
    status: 'error',
    error: error ?? { code, message: outcome === 'cancelled' ? 'the run was cancelled' : 'the run failed' },
  }
}

/** How a run ended, and whether `closeRun` wrote that end or found it. */
export interface Closed {
  readonly outcome: Outcome
  readonly wrote: boolean
}

/**
 * Ends a run whose agent is gone, from what the log has of it; `after` is a seq before its
 * start, if one is known. A run that has its end keeps it, so this can be repeated after a write that may or may not have succeeded.
 */
export async function closeRun(
  log: EventLog,
  lease: Lease,
  ending: RunFinished,
  after = 0,
): Promise<Closed | undefined> {
  const rows = (await log.read(lease.session, { after })).filter(({ run }) => run === lease.run)
  if (rows.length === 0) return undefined
  const ledger = RunLedger.of(rows, lease.run)
  if (ledger.ending !== undefined) return { outcome: ledger.ending.outcome, wrote: false }
  await log.append(lease.session, draftsOf(lease.run, closing(ledger, ending)), lease)
  return { outcome: ending.outcome, wrote: true }
}

export function draftsOf(run: string, events: readonly RunEvent[]): readonly Draft[] {
  return events.map((event) => ({ run, event }))
}
