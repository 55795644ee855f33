import {
  type AdkPart,
  type Host,
  type Interrupted,
  type JsonObject,
  MillraceError,
  type RunInput,
} from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { answers } from '../answer-parts.ts'
import { reasonOf, silence } from './follow.ts'
import type { RemoteEntry } from './remote-entry.ts'

/**
 * ADK needs a session before a run. One that exists already is fine; the server reports it with a 4xx (400 in JS, 409 in
 * Python). Returns true when the session is new: the server then knows nothing of the conversation so far.
 */
export async function openAdkSession(
  base: string,
  app: string,
  { headers = {}, timeout = silence }: RemoteEntry,
  host: Host,
  { user, session, signal }: RunContext,
): Promise<boolean> {
  const [inApp, ofUser, id] = [app, user, session].map(encodeURIComponent)
  const stop = host.abortController()
  let late = false
  const cancel = host.after(timeout, () => {
    late = true
    stop.abort()
  })
  const leave = (): void => stop.abort()
  signal.addEventListener('abort', leave)
  try {
    const { status } = await host.fetch(`${base}/apps/${inApp}/users/${ofUser}/sessions/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: '{}',
      signal: stop.signal,
    })
    if (status < 500 && status !== 401 && status !== 403) return status < 300
    throw new MillraceError('remote-error', `${new URL(base).host} answered ${status} to the request for a session`)
  } catch (error) {
    if (error instanceof MillraceError) throw error
    const why = late ? `silent for ${timeout} ms` : reasonOf(error)
    throw new MillraceError('remote-error', `${new URL(base).host} cannot be reached: ${why}`)
  } finally {
    cancel()
    signal.removeEventListener('abort', leave)
  }
}

/** The body of `/run_sse`. ADK takes one message: the new parts of the conversation and the answers to interrupts. */
export function toRunRequest(app: string, input: RunInput, context: RunContext, made: boolean): object {
  const { user, session, history, state } = context
  const open = new Map<string, Interrupted>()
  const calls = new Map<string, string>()
  for (const { event } of history) {
    if (event.kind === 'interrupt') open.set(event.id, event)
    else if (event.kind === 'resumed') open.delete(event.interrupt)
    else if (event.kind === 'agent') {
      for (const { functionCall } of event.event.content?.parts ?? []) {
        if (functionCall?.id !== undefined) calls.set(functionCall.id, functionCall.name)
      }
    }
  }
  const texts: readonly AdkPart[] = input.messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => content.parts ?? [])
    .filter(({ functionResponse }) => functionResponse === undefined)
  // A new session has no state yet and gets all of ours. An existing one gets only what the client changed.
  const stateDelta: JsonObject = made ? state : (input.state ?? {})
  return {
    appName: app,
    userId: user,
    sessionId: session,
    newMessage: { role: 'user', parts: [...answers(input, open, calls), ...texts] },
    streaming: true,
    ...(Object.keys(stateDelta).length === 0 ? {} : { stateDelta }),
  }
}
