import type { Recorded, RunInput } from '../../event/run-event.ts'
import { defined } from '../../json/defined.ts'
import type { JsonObject } from '../../json/json.ts'
import { agUiEncoder } from './encoder.ts'
import { echoOf, type RunAgentInput } from './input.ts'
import type { AgUiMessage } from './wire.ts'

/** The input of a run on an AG-UI server. */
export interface AgUiStart {
  readonly threadId: string
  readonly runId: string
  readonly parentRunId?: string
  readonly input: RunInput
  /** The rows of the session before this run: most AG-UI servers keep no history. */
  readonly history?: readonly Recorded[]
  /** The session's state at the start of the run. */
  readonly state?: JsonObject
  /** For a 0.x server, which refuses a request with a field or role of 1.0. */
  readonly legacy?: boolean
}

/**
 * The request that starts a run on another AG-UI server. It contains the whole conversation, as from the official
 * client, except activities. Every field that 0.x servers require is there, empty or not; the version is not, because
 * strict 0.x servers refuse the field and 1.0 servers do not need it.
 */
export function toRunAgentInput(start: AgUiStart): RunAgentInput {
  const { threadId, runId, parentRunId, input, history = [], state, legacy = false } = start
  const encoder = agUiEncoder({ session: threadId })
  for (const row of history) encoder.push(row)
  const echo = echoOf(threadId, runId, input)
  const known = new Set(encoder.messages.map((message) => message.id))
  // The messages of this run are new, whatever their ids: a naive client gives every message the same one.
  const fresh = (echo?.messages ?? []).map((message) =>
    known.has(message.id) ? { ...message, id: `${message.id} ${runId}` } : message,
  )
  const all = [...afterCalls(encoder.messages), ...fresh]
  const sent = all.filter(({ role }) => role !== 'activity' && !(legacy && role === 'reasoning'))
  const { resume } = echo ?? {}
  return {
    threadId,
    runId,
    ...defined({ parentRunId }),
    state: state ?? input.state ?? {},
    messages: legacy ? sent.map(asBefore) : sent,
    tools: echo?.tools ?? [],
    context: echo?.context ?? [],
    forwardedProps: echo?.forwardedProps ?? {},
    ...defined({ resume }),
  }
}

/**
 * The messages with the results of tools right after their calls, where models want them. A snapshot may leave them later:
 * a client keeps the places of messages that it knows, and adds the others at the end.
 */
function afterCalls(messages: readonly AgUiMessage[]): readonly AgUiMessage[] {
  const called = new Set(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)))
  const isAnswer = ({ role, toolCallId }: AgUiMessage): boolean => role === 'tool' && called.has(toolCallId ?? '')
  const answers = messages.filter(isAnswer)
  return messages.flatMap((message) => {
    if (isAnswer(message)) return []
    const own = new Set(message.toolCalls?.map(({ id }) => id))
    return own.size === 0 ? message : [message, ...answers.filter(({ toolCallId }) => own.has(toolCallId ?? ''))]
  })
}

/** A message without the fields that 1.0 has added. */
function asBefore({
  subagentRunId: _,
  metadata: __,
  encryptedValue: ___,
  toolCalls,
  ...message
}: AgUiMessage): AgUiMessage {
  if (toolCalls === undefined) return message
  return { ...message, toolCalls: toolCalls.map(({ id, type, function: called }) => ({ id, type, function: called })) }
}
