import { type EventLog, MillraceError, type Outcome } from '@millrace/core'

/** How a run ended, from the log: at once if it has ended, else when it does, in whichever process it runs. */
export async function outcomeOf(log: EventLog, session: string, run: string): Promise<Outcome> {
  const info = await log.get(session)
  const unknown = new MillraceError('not-found', `no run ${run}`, { session, run })
  if (info === undefined || info.lastSeq === 0) throw unknown
  const stop = new AbortController()
  let started = false
  try {
    for await (const rows of log.follow(session, { after: 0, signal: stop.signal })) {
      for (const row of rows) {
        if (row.run === run) started = true
        if (row.run === run && row.event.kind === 'run.finished') return row.event.outcome
        if (!started && row.seq >= info.lastSeq) throw unknown
      }
    }
  } finally {
    stop.abort()
  }
  throw unknown
}
