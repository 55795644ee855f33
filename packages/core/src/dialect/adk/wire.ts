import type { AdkEvent } from '../../event/adk-event.ts'
import { type Problem, type ProblemCode, problemCodes } from '../../event/problem.ts'
import type { Foreign, Outcome } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../json/json.ts'

// What is on the adk wire beside ADK events. index.ts says why the remarks are comments.

/** A comment that Millrace wrote. */
export type Remark =
  | { readonly word: 'run.started'; readonly run: string; readonly agent: string }
  | { readonly word: 'run.finished'; readonly outcome: Outcome; readonly code: ProblemCode | undefined }
  | { readonly word: 'foreign'; readonly event: Foreign }

/** Undefined for any other comment, such as a heartbeat. */
export function readRemark(comment: string): Remark | undefined {
  const [word = '', first = '', second = ''] = comment.split(' ')
  switch (word) {
    case 'run.started':
      return { word, run: decoded(first), agent: decoded(second) }
    case 'run.finished': {
      const outcome = outcomes.find((name) => name === first)
      if (outcome === undefined) return undefined
      return { word, outcome, code: problemCodes.find((code) => code === second) }
    }
    case 'foreign': {
      const parsed = parseJson(comment.slice(word.length))
      if ('reason' in parsed || !isJsonObject(parsed.value)) return undefined
      const { raw, reason } = parsed.value
      if (typeof raw !== 'string' || typeof reason !== 'string') return undefined
      return { word, event: foreign(raw, reason) }
    }
    default:
      return undefined
  }
}
const outcomes: readonly Outcome[] = ['done', 'failed', 'cancelled', 'interrupted']

export const remarkStarted = (run: string, agent: string): Frame => remark('run.started', encoded(run), encoded(agent))
export const remarkFinished = (outcome: Outcome, code: ProblemCode | undefined): Frame =>
  remark('run.finished', outcome, code ?? '')

function remark(...words: string[]): Frame {
  return { comment: words.join(' ').trimEnd(), data: '' }
}

/** A name as one word without spaces; '' for a name with half a surrogate pair, which cannot be encoded. */
function encoded(name: string): string {
  try {
    return encodeURIComponent(name)
  } catch {
    return ''
  }
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return word
  }
}

export function foreign(raw: string, reason: string): Foreign {
  return { kind: 'foreign', dialect: 'adk', raw, reason }
}

/**
 * As it came if adk-web can parse it: one line, a JSON object. Otherwise as a comment. The second error of a run is a
 * comment too, because a reader would take it for the first.
 */
export function printForeignComment({ raw, reason }: Foreign): Frame {
  const parsed = /[\r\n]/.test(raw) ? { reason } : parseJson(raw)
  const parsable = 'value' in parsed && isJsonObject(parsed.value) && !isErrorFrame(parsed.value)
  return parsable ? { data: raw } : { comment: `foreign ${JSON.stringify({ reason, raw })}`, data: '' }
}

/** `{"error": …}`, by which ADK's servers report that a run failed. An event has an author or content. */
export function isErrorFrame(value: Json): value is JsonObject & { readonly error: Json } {
  return (
    isJsonObject(value) &&
    (value.error ?? undefined) !== undefined &&
    value.author === undefined &&
    value.content === undefined
  )
}

export function problemOfError(error: Json): Problem {
  if (typeof error === 'string') return { code: 'remote-error', message: error }
  if (!isJsonObject(error) || typeof error.message !== 'string')
    return { code: 'remote-error', message: JSON.stringify(error) }
  const source = error.code ?? error.status
  return {
    code: 'remote-error',
    message: error.message,
    ...(typeof source === 'string' || typeof source === 'number' ? { source: String(source) } : {}),
  }
}

export function problemOfEvent({ errorCode, errorMessage }: AdkEvent): Problem | undefined {
  const message = errorMessage ?? errorCode
  if (message === undefined) return undefined
  return { code: 'model-error', message, ...(errorCode === undefined ? {} : { source: errorCode }) }
}

/** Milliseconds as ADK Python writes a time: in seconds, with six digits. */
export function seconds(milliseconds: number): number {
  return Math.round(milliseconds * 1e3) / 1e6
}

/** One event as adk-web reads it. */
export function printEvent(event: AdkEvent, at: number): Frame {
  const wire = {
    ...event,
    invocationId: event.invocationId === '' ? undefined : event.invocationId,
    timestamp: seconds(event.timestamp === 0 ? at : event.timestamp),
  }
  try {
    return { data: JSON.stringify(wire) }
  } catch {
    // The guards keep such events out of a log, but an encoder must return for any input (SPEC 3.1).
    return { comment: `event ${event.id} cannot be printed`, data: '' }
  }
}

/** An event has an author and one of these fields. The start and the end of a run are comments. */
const eventFields = ['invocationId', 'invocation_id', 'content', 'actions']

export function isAdkFrame({ data, comment }: Frame, value: JsonObject | undefined): boolean {
  if (comment !== undefined && data === '') return /^run\.(started|finished)\b/.test(comment)
  return typeof value?.author === 'string' && eventFields.some((field) => value[field] !== undefined)
}
