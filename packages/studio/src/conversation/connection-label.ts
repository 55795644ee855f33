import type { ConnectionState, RunStatus } from '@millrace/core'
import { detailOf } from '../session/client.ts'
import type { Tone } from '../ui/controls.tsx'

/** The status of a session and its connection: a word for the header and, if there is a problem, a banner sentence. */
export interface ConnectionLabel {
  readonly word: string
  readonly tone: Tone
  readonly moving?: boolean
  readonly reason?: string
  readonly banner?: string
  /** The connection is closed and will not be retried. */
  readonly lost?: boolean
}

const outcomes: Readonly<Record<RunStatus['status'], ConnectionLabel>> = {
  running: { word: 'live', tone: 'accent', moving: true },
  done: { word: 'ended', tone: 'ok' },
  failed: { word: 'failed', tone: 'bad' },
  cancelled: { word: 'stopped', tone: 'warn' },
  interrupted: { word: 'waiting for you', tone: 'warn' },
}

export function connectionLabel(
  connection: ConnectionState,
  latest: RunStatus | undefined,
  { file, absent }: { readonly file: boolean; readonly absent: boolean },
): ConnectionLabel {
  const run = latest === undefined ? undefined : runLabel(latest, file || absent)
  if (file) return run ?? { word: 'recording', tone: 'soft' }
  if (connection.phase === 'connecting') return { word: 'connecting', tone: 'soft', moving: true }
  if (connection.phase === 'waiting') {
    return {
      word: 'reconnecting',
      tone: 'warn',
      moving: true,
      reason: connection.reason,
      banner: `Connection lost (${connection.reason}). Reconnecting, attempt ${connection.attempt}. The run continues and no event is lost.`,
    }
  }
  if (connection.phase === 'closed' && connection.how !== 'ended' && connection.how !== 'aborted') {
    const { message = 'the connection was cut' } = connection.problem ?? {}
    const reason = detailOf(message) ?? message
    return { word: 'failed', tone: 'bad', reason, banner: `This session cannot be shown: ${reason}`, lost: true }
  }
  if (run === undefined) return { word: 'ready', tone: 'soft' }
  return latest?.error === undefined ? run : { ...run, reason: latest.error.message }
}

function runLabel({ status, error }: RunStatus, recording: boolean): ConnectionLabel {
  if (status === 'failed' && error?.code === 'cut') return { word: 'recording, cut off', tone: 'warn' }
  if (status === 'interrupted' && recording) return { word: 'waiting for an answer', tone: 'soft' }
  return outcomes[status]
}
