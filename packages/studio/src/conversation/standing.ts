import type { ConnectionState, RunStatus } from '@millrace/core'
import { detailOf } from '../session/client.ts'
import type { Tone } from '../ui/controls.tsx'

/** How a session stands, in one word for the header and, where something is wrong, a sentence for a banner. */
export interface Standing {
  readonly word: string
  readonly tone: Tone
  readonly moving?: boolean
  readonly reason?: string
  readonly banner?: string
  /** There is no connection and none will come. */
  readonly lost?: boolean
}

const outcomes: Readonly<Record<RunStatus['status'], Standing>> = {
  running: { word: 'live', tone: 'accent', moving: true },
  done: { word: 'ended', tone: 'ok' },
  failed: { word: 'failed', tone: 'bad' },
  cancelled: { word: 'stopped', tone: 'warn' },
  interrupted: { word: 'waiting for you', tone: 'warn' },
}

export function standing(connection: ConnectionState, latest: RunStatus | undefined, file: boolean): Standing {
  const run = latest === undefined ? undefined : outcomes[latest.status]
  if (file) return run ?? { word: 'recording', tone: 'soft' }
  if (connection.phase === 'connecting') return { word: 'connecting', tone: 'soft', moving: true }
  if (connection.phase === 'waiting') {
    return {
      word: 'reconnecting',
      tone: 'warn',
      moving: true,
      reason: connection.reason,
      banner: `The connection is lost (${connection.reason}). Trying again, attempt ${connection.attempt}. Nothing is lost: the run goes on.`,
    }
  }
  if (connection.phase === 'closed' && connection.how !== 'ended' && connection.how !== 'aborted') {
    const { message = 'the stream was cut' } = connection.problem ?? {}
    const reason = detailOf(message) ?? message
    return { word: 'failed', tone: 'bad', reason, banner: `This session cannot be shown: ${reason}`, lost: true }
  }
  if (run === undefined) return { word: 'ready', tone: 'soft' }
  return latest?.error === undefined ? run : { ...run, reason: latest.error.message }
}
