import type { ResumeAnswer, RunInput } from '@millrace/core'
import { useCallback, useState } from 'react'
import { useClient, useSurroundingSession } from './provider.tsx'

export interface RunControls {
  /** Starts a run with a text or a whole input. Resolves with the id of the run once it is recorded. */
  send(message: string | RunInput): Promise<string>
  stop(): Promise<void>
  /** Answers all open questions of an interrupted run at once and continues it. */
  resume(answers: readonly ResumeAnswer[]): Promise<string>
  /** A request of this hook is pending. Whether the agent is running is in the log. */
  readonly pending: boolean
  readonly error: Error | undefined
}

/** Acts on the given session, or on that of the `SessionProvider` above. */
export function useRun(): RunControls
export function useRun(session: string, agent: string): RunControls
export function useRun(...named: [] | [session: string, agent: string]): RunControls {
  const client = useClient()
  const surrounding = useSurroundingSession()
  const [session = surrounding?.session.id, agent = surrounding?.agent] = named
  if (session === undefined || agent === undefined) {
    throw new Error(
      'useRun() has no session: pass a session and an agent, or render it inside <SessionProvider session={…} agent="…">',
    )
  }
  const [requests, setRequests] = useState(0)
  const [error, setError] = useState<Error>()
  const track = useCallback(<T>(work: Promise<T>): Promise<T> => {
    setRequests((count) => count + 1)
    setError(undefined)
    const settled = work.finally(() => setRequests((count) => count - 1))
    // The failure is in `error`, so `void send(…)` must not cause an unhandled rejection; awaiting it still throws.
    settled.catch((thrown) => setError(thrown instanceof Error ? thrown : new Error(String(thrown))))
    return settled
  }, [])
  return {
    send: useCallback(
      (message) => {
        const input = typeof message === 'string' ? textInput(client.newId(), message) : message
        return track(client.start(session, agent, input).then(({ run }) => run))
      },
      [client, session, agent, track],
    ),
    stop: useCallback(() => track(client.cancel(session)), [client, session, track]),
    resume: useCallback(
      (answers) => track(client.resume(session, agent, answers).then(({ run }) => run)),
      [client, session, agent, track],
    ),
    pending: requests > 0,
    error,
  }
}

function textInput(id: string, text: string): RunInput {
  return { messages: [{ id, role: 'user', content: { role: 'user', parts: [{ text }] } }] }
}
