import { type AdkPart, type InputMessage, isObject, type Recorded } from '@millrace/core'
import type { LoadedSession } from '../../run/load-session.ts'

/** A run of the thread that still counts. */
export interface ThreadRun {
  readonly run: string
  /** The messages that its request brought. */
  readonly input: readonly InputMessage[]
  /** Whether a person spoke: a run without that goes on with the turn before it. */
  readonly isTurn: boolean
}

/** A thread as a request finds it. */
export interface ThreadSession extends LoadedSession {
  /** Perhaps without partials of whole messages. */
  readonly rows: readonly Recorded[]
}

/** Where the messages of a thread are, for comparing them with the history that a client sends. */
export interface ThreadIndex {
  /** Oldest first. */
  readonly runs: readonly ThreadRun[]
  /** The position in `runs` and the text of each message, by id. */
  readonly messages: ReadonlyMap<string, { readonly at: number; readonly text: string }>
  /** The position of the run that made each call. */
  readonly calls: ReadonlyMap<string, number>
  /** The calls that have a result. */
  readonly results: ReadonlySet<string>
  /** The names of all tools that clients have brought. */
  readonly clientTools: ReadonlySet<string>
  /** What an agent said last. */
  readonly lastSaid: string | undefined
}

export function threadIndex({ rows, facts }: ThreadSession): ThreadIndex {
  const runs: ThreadRun[] = []
  const messages = new Map<string, { at: number; text: string }>()
  const calls = new Map<string, number>()
  const results = new Set<string>()
  const clientTools = new Set<string>()
  const places = new Map<string, number>()
  let lastSaid: string | undefined
  const note = (parts: readonly AdkPart[], at: number): void => {
    for (const { functionCall, functionResponse } of parts) {
      if (functionCall?.id !== undefined) calls.set(functionCall.id, at)
      if (functionResponse?.id !== undefined) results.add(functionResponse.id)
    }
  }
  for (const { run, event } of rows) {
    if (facts.replaced.has(run)) continue
    if (event.kind === 'run.started') {
      const at = runs.length
      const input = event.input.messages
      places.set(run, at)
      runs.push({ run, input, isTurn: at === 0 || input.some(({ role }) => role === 'user') })
      for (const { name } of event.input.tools ?? []) clientTools.add(name)
      for (const message of input) {
        messages.set(message.id, { at, text: messageText(message) })
        note(inputParts(message), at)
      }
    } else if (event.kind === 'agent') {
      const at = places.get(run) ?? Math.max(0, runs.length - 1)
      messages.set(event.message, { at, text: '' })
      messages.set(`${event.message}:reasoning`, { at, text: '' })
      note(event.event.content?.parts ?? [], at)
      lastSaid = event.message
    }
  }
  return { runs, messages, calls, results, clientTools, lastSaid }
}

export function inputParts({ content }: InputMessage): readonly AdkPart[] {
  return content.parts ?? []
}

export function messageText(message: InputMessage): string {
  return inputParts(message)
    .map((part) => (isObject(part) ? (part.text ?? '') : ''))
    .join('')
}
