import { isObject } from '../json/json.ts'

/**
 * Why something failed. The codes are closed: programs decide on `code`, people read `message`.
 * The server maps each code to an HTTP status.
 */
export const problemCodes = [
  'agent-error', // the agent or one of its tools threw
  'model-error', // the model answered with an error
  'remote-error', // an upstream agent server refused, failed or could not be reached
  'cut', // a stream stopped before its run had ended
  'garbage', // an agent yielded something that is not a RunEvent
  'timeout', // the run's wall clock ran out
  'cancelled', // a person or a program asked for it to stop
  'crashed', // the server stopped while the run was active
  'lease-lost', // another writer took the run over
  'limit', // a bound was hit (size, depth, count)
  'busy', // the session has an active run with a reader
  'not-found',
  'conflict',
  'invalid', // malformed input, with the path of what is wrong
  'unauthorized',
  'forbidden',
  'unavailable', // shutting down, or the store cannot be reached
  'store-failed', // the store refused the write; nothing was recorded
  'internal',
] as const
export type ProblemCode = (typeof problemCodes)[number]

const codes: ReadonlySet<unknown> = new Set(problemCodes)
export function isProblemCode(value: unknown): value is ProblemCode {
  return codes.has(value)
}

export interface Problem {
  readonly code: ProblemCode
  readonly message: string
  /** What the other side called it (ADK errorCode, AG-UI code, HTTP status). */
  readonly source?: string
}

/**
 * Whether the real end is unknown, because the server or the stream stopped. An event with such a problem was written when
 * that was discovered, so its time says nothing about how long the work took.
 */
export function isUnseenEnd(problem: { readonly code?: string | undefined } | undefined): boolean {
  return problem?.code === 'crashed' || problem?.code === 'cut'
}

/** The value as a Problem, if it is one. */
export function problemIn(value: unknown): Problem | undefined {
  if (!isObject(value) || !isProblemCode(value.code) || typeof value.message !== 'string') return undefined
  const { code, message, source } = value
  return { code, message, ...(typeof source === 'string' ? { source } : {}) }
}

/**
 * The one error class of Millrace: thrown for programming errors and refused requests. A problem on a stream is an event,
 * never thrown.
 */
export class MillraceError extends Error {
  readonly code: ProblemCode
  /** Facts for programs and logs: which session, which line, which path. */
  readonly facts: Readonly<Record<string, unknown>>
  constructor(code: ProblemCode, message: string, facts: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'MillraceError'
    this.code = code
    this.facts = facts
  }
}
