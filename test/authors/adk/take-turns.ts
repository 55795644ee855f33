import type { Recorded } from '@millrace/core'
import { logOf, startTurn, type Turn } from '../kit/session.ts'

/**
 * Takes the turns of all sessions from where their logs are: after a crash it waits for the run that goes on, and then
 * takes the next turn. A run that the crash ended ends the conversation.
 */
export async function takeTurns(address: string, pattern: string, talks: readonly (readonly Turn[])[]): Promise<void> {
  for (const [i, turns] of talks.entries()) {
    const session = `${pattern}-${i}`
    for (;;) {
      const rows = await logOf(address, session)
      const runs = rows.flatMap(({ run, event }) => (event.kind === 'run.started' ? [run] : []))
      const open = runs.find((run) => !rows.some((row) => row.run === run && row.event.kind === 'run.finished'))
      if (rows.some(isCrash)) return
      const turn = turns[runs.length]
      if (open === undefined && turn === undefined) break
      const run = open ?? (turn === undefined ? '' : await startTurn(address, pattern, session, turn))
      // The stream of a run ends with the run.
      await (
        await fetch(`${address}/sessions/${session}/events?dialect=millrace&run=${encodeURIComponent(run)}`)
      ).text()
    }
  }
}

const isCrash = ({ event }: Recorded): boolean => event.kind === 'run.finished' && event.error?.code === 'crashed'
