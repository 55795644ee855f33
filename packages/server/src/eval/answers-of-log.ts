import { functionResponsesOf, isPartial, type JsonObject, type Recorded } from '@millrace/core'
import type { CaseTurn, RecordedAnswer, RecordedCase } from './case-file.ts'

/** The print of a request that the log does not have: it matches none, so that answers are taken in their order. */
const unknown = { instruction: '', tools: '', contents: [], words: 0 }

/**
 * What a session said to its agent, and what the models answered, as far as its log shows it: every answer that became an
 * event. A graph may keep answers for itself; such a session is recorded with its models instead.
 */
export function caseOfLog(
  rows: readonly Recorded[],
): Pick<RecordedCase, 'turns'> & Required<Pick<RecordedCase, 'answers'>> {
  const turns: CaseTurn[] = []
  const answers: Record<string, RecordedAnswer[]> = {}
  for (const { event } of rows) {
    if (event.kind === 'run.started') turns.push(turnOf(event.input))
    else if (event.kind === 'agent' && !isPartial(event.event) && functionResponsesOf(event.event).length === 0) {
      const { author, content, usageMetadata, modelVersion } = event.event
      const parts = (content?.parts ?? []) as unknown as readonly JsonObject[]
      if (author === 'user' || parts.length === 0 || isQuestion(parts)) continue
      answers[author] ??= []
      answers[author].push({
        request: unknown,
        ...(modelVersion === undefined ? {} : { model: modelVersion }),
        parts: parts.map(withoutCallId),
        ...(usageMetadata === undefined ? {} : { usage: usageMetadata as JsonObject }),
        finish: 'STOP',
      })
    }
  }
  return { turns, answers }
}

function turnOf({
  messages,
  resume = [],
  props,
}: Extract<Recorded['event'], { kind: 'run.started' }>['input']): CaseTurn {
  const parts = messages.flatMap(({ role, content }) => (role === 'user' ? (content.parts ?? []) : []))
  const [answer] = resume
  const isText = parts.every(({ text }) => text !== undefined)
  return {
    ...(parts.length === 0
      ? {}
      : isText
        ? { user: parts.map(({ text }) => text).join('\n') }
        : { parts: parts as unknown as readonly JsonObject[] }),
    ...(answer === undefined ? {} : { answer: answer.status === 'cancelled' ? null : (answer.payload ?? true) }),
    ...(props === undefined ? {} : { props }),
  }
}

/** ADK asks a person by an event of its own, which no model made. */
const isQuestion = (parts: readonly JsonObject[]): boolean =>
  parts.some(({ functionCall }) => String((functionCall as JsonObject | undefined)?.name).startsWith('adk_request_'))

function withoutCallId(part: JsonObject): JsonObject {
  const { functionCall } = part
  if (typeof functionCall !== 'object' || functionCall === null) return part
  const { id: _, ...call } = functionCall as JsonObject
  return { ...part, functionCall: call }
}
