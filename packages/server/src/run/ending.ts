import { MillraceError, type Problem, type Recorded, type RunFinished, type SessionInfo } from '@millrace/core'

const longestMessage = 2_000

export function failed(error: Problem): RunFinished {
  return { kind: 'run.finished', outcome: 'failed', error }
}

export function cancelled(message: string): RunFinished {
  return { kind: 'run.finished', outcome: 'cancelled', error: { code: 'cancelled', message } }
}

/** How a run ends that nobody drives any more. One that a fork copied half of did not crash: it goes on elsewhere. */
export function abandoned({ forkOf }: SessionInfo, started: Recorded): RunFinished {
  if (forkOf !== undefined && started.seq <= forkOf.seq) return cancelled('the fork was taken while this run went on')
  return failed({ code: 'crashed', message: 'the process that ran it is gone' })
}

/** What may be told to clients: a store's own words name files of this machine, and are for the operator's log. */
export function publicMessage({ code, message, facts }: MillraceError): string {
  if (code !== 'store-failed') return message
  return typeof facts.reason === 'string' ? `the store failed: ${facts.reason}` : 'the store failed'
}

/** Never a stack: what a person can act on. */
export function problemFromError(error: unknown, otherwise: 'agent-error' | 'store-failed'): Problem {
  if (error instanceof MillraceError)
    return { code: error.code, message: publicMessage(error).slice(0, longestMessage) }
  if (otherwise === 'store-failed') return { code: otherwise, message: 'the store failed' }
  const code = otherwise
  const text = error instanceof Error ? error.message || error.name : typeof error === 'string' ? error : ''
  return { code, message: text === '' ? 'no reason was given' : text.slice(0, longestMessage) }
}
