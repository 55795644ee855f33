import type { ResumeAnswer, RunInput } from '@millrace/core'
import { useCallback, useState } from 'react'
import { useAround, useClient } from './provider.tsx'

export interface RunControls {
  /** Starts a run with a text or a whole input; resolves with its id once it is recorded. */
  send(message: string | RunInput): Promise<string>
  stop(): Promise<void>
  /** Answers what a run asked, all of it at once, and goes on. */
  resume(answers: readonly ResumeAnswer[]): Promise<string>
  /** A request of ours is under way. Whether the agent works is for the log to tell. */
  readonly pending: boolean
  readonly error: Error | undefined
}

/** Acts on a session: by name, or on that of the `SessionProvider` above. */
export function useRun(): RunControls
export function useRun(session: string, agent: string): RunControls
export function useRun(...named: [] | [session: string, agent: string]): RunControls {
  const client = useClient()
  const around = useAround()
  const [session = around?.session.id, agent = around?.agent] = named
  if (session === undefined || agent === undefined) {
    throw new Error('name a session and an agent, or put a <SessionProvider session={…} agent="…"> above')
  }
  const [requests, setRequests] = useState(0)
  const [error, setError] = useState<Error>()
  const track = useCallback(<T>(work: Promise<T>): Promise<T> => {
    setRequests((count) => count + 1)
    setError(undefined)
    const settled = work.finally(() => setRequests((count) => count - 1))
    // Told by `error`, so that `void send(…)` is no unhandled rejection; who awaits it is told as well.
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
