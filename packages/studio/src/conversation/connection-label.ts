import { type ConnectionState, type RunStatus, runWord } from '@millrace/core'
import { detailOf } from '../session/client.ts'
import type { Tone } from '../ui/controls.tsx'
import { wordTones } from '../ui/state-word.ts'

/** The status of a session and its connection: a word for the header and, if there is a problem, a banner sentence. */
export interface ConnectionLabel {
  readonly word: string
  readonly tone: Tone
  readonly moving?: boolean
  readonly reason?: string
  readonly banner?: string
  /** Nothing is known of what happens now, so nothing may look as if it went on. */
  readonly frozen?: boolean
  /** The connection is closed and will not be retried. */
  readonly lost?: boolean
}

export function connectionLabel(
  connection: ConnectionState,
  latest: RunStatus | undefined,
  file: boolean,
): ConnectionLabel {
  const run = latest === undefined ? undefined : runLabel(latest)
  if (file) return run ?? { word: 'recording', tone: 'soft' }
  if (connection.phase === 'connecting') return { word: 'connecting', tone: 'soft', moving: true }
  if (connection.phase === 'waiting') {
    return {
      word: 'reconnecting',
      tone: 'warn',
      reason: connection.reason,
      banner: 'Connection lost. Reconnecting… Everything received so far is saved.',
      frozen: true,
    }
  }
  if (connection.phase === 'closed' && connection.how !== 'ended' && connection.how !== 'aborted') {
    const { message = 'the connection was cut' } = connection.problem ?? {}
    const reason = detailOf(message) ?? message
    const banner = `This session cannot be shown: ${reason}`
    return { word: 'not available', tone: 'bad', reason, banner, lost: true }
  }
  if (run === undefined) return { word: 'ready', tone: 'soft' }
  return latest?.error === undefined ? run : { ...run, reason: latest.error.message }
}

function runLabel({ status, error }: RunStatus): ConnectionLabel {
  const word = runWord(status, error?.code)
  return { word, tone: wordTones[word], ...(word === 'running' ? { moving: true } : {}) }
}
