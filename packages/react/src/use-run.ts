import type { ResumeAnswer, RunInput } from '@millrace/core'
import { useCallback, useState } from 'react'
import { useClient } from './provider.tsx'

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

export function useRun(session: string, agent: string): RunControls {
  const client = useClient()
  const [pending, setPending] = useState(false)
  const [error, setError] = useState<Error>()
  const track = useCallback(async <T>(work: Promise<T>): Promise<T> => {
    setPending(true)
    setError(undefined)
    try {
      return await work
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)))
      throw thrown
    } finally {
      setPending(false)
    }
  }, [])
  return {
    send: useCallback(
      async (message) => {
        const input = typeof message === 'string' ? textInput(client.newId(), message) : message
        return (await track(client.start(session, agent, input))).run
      },
      [client, session, agent, track],
    ),
    stop: useCallback(() => track(client.cancel(session)), [client, session, track]),
    resume: useCallback(
      async (answers) => (await track(client.resume(session, agent, answers))).run,
      [client, session, agent, track],
    ),
    pending,
    error,
  }
}

function textInput(id: string, text: string): RunInput {
  return { messages: [{ id, role: 'user', content: { role: 'user', parts: [{ text }] } }] }
}
