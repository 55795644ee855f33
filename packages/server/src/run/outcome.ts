import { type EventLog, MillraceError, type Outcome } from '@millrace/core'

/** How a run ended, from the log: at once if it has ended, else when it does, in whichever process it runs. */
export async function outcomeOf(log: EventLog, session: string, run: string): Promise<Outcome> {
  const info = await log.get(session)
  const unknown = new MillraceError('not-found', `no run ${run}`, { session, run })
  const start = info === undefined ? undefined : await log.startOf(session, run)
  if (start === undefined) throw unknown
  const stop = new AbortController()
  try {
    for await (const rows of log.follow(session, { after: start, signal: stop.signal })) {
      for (const row of rows) {
        if (row.run === run && row.event.kind === 'run.finished') return row.event.outcome
      }
    }
  } finally {
    stop.abort()
  }
  throw unknown
}
