import { MillraceError, type Problem, type Recorded, type RunFinished, type SessionInfo } from '@millrace/core'
import { withoutPaths } from '../agent/author-place.ts'
import { withoutOwnSecrets } from '../agent/own-secrets.ts'

const longestMessage = 2_000

export function failed(error: Problem): RunFinished {
  return { kind: 'run.finished', outcome: 'failed', error }
}

export function cancelled(message: string): RunFinished {
  return { kind: 'run.finished', outcome: 'cancelled', error: { code: 'cancelled', message } }
}

/** The end of a run that no process drives any more. In a fork, a half-copied run did not crash: its original goes on. */
export function abandoned({ forkOf }: SessionInfo, started: Pick<Recorded, 'seq'>): RunFinished {
  if (forkOf !== undefined && started.seq <= forkOf.seq)
    return cancelled('the session was forked while this run was active')
  return failed({ code: 'crashed', message: 'the server stopped while this run was active' })
}

/** The message for clients. A store's message names files of this machine, so it goes to the server's log only. */
export function publicMessage({ code, message, facts }: MillraceError): string {
  if (code !== 'store-failed') return message
  return typeof facts.reason === 'string' ? `the store failed: ${facts.reason}` : 'the store failed'
}

/** The error as a problem that a person can act on, without a stack. */
export function problemFromError(error: unknown, otherwise: 'agent-error' | 'store-failed'): Problem {
  if (error instanceof MillraceError)
    return { code: error.code, message: publicMessage(error).slice(0, longestMessage) }
  if (otherwise === 'store-failed') return { code: otherwise, message: 'the store failed' }
  const code = otherwise
  const text = error instanceof Error ? error.message || error.name : typeof error === 'string' ? error : ''
  return {
    code,
    message:
      text === ''
        ? 'the agent threw without a message'
        : withoutPaths(withoutOwnSecrets(text)).slice(0, longestMessage),
  }
}
