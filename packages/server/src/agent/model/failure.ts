import type { LlmResponse } from '@google/adk'
import { isObject } from '@millrace/core'
import { withoutValues } from '../redact.ts'
import { type ModelSettings, secretsOf } from './settings.ts'
import { silenceIn } from './timed-fetch.ts'

/** The parts of an SDK's error classes that tell what happened. OpenAI's and Anthropic's SDKs have the same ones. */
export interface SdkErrors {
  readonly APIConnectionError: abstract new (...args: never[]) => Error
  readonly APIError: abstract new (...args: never[]) => Error & { readonly status?: unknown; readonly code?: unknown }
}

/** What an error message needs to know about the model. */
export interface CalledModel {
  readonly model: string
  /** The variable that has its key. */
  readonly key: string
  readonly settings: ModelSettings
}

/** ADK expects an error as a response with a code; the run then fails with the server's message. */
export function modelFailure(
  error: unknown,
  { APIConnectionError, APIError }: SdkErrors,
  called: CalledModel,
): LlmResponse {
  const failure = streamFailure(error)
  if (failure !== undefined) return failure
  if (error instanceof APIConnectionError) {
    return { errorCode: 'CONNECTION', errorMessage: `the model cannot be reached: ${reasonOf(error)}` }
  }
  if (error instanceof APIError) {
    const type: unknown = Reflect.get(error, 'type')
    const errorCode = String(error.status ?? error.code ?? type ?? 'UNKNOWN_ERROR')
    const words = wordsIn(Reflect.get(error, 'error')) ?? error.message.replace(/^\d{3} /, '')
    return { errorCode, errorMessage: vendorRefusal(error.status, words, called) }
  }
  return { errorCode: 'UNKNOWN_ERROR', errorMessage: withoutKeys(reasonOf(error), called) }
}

/** What a provider said, which model it was about, and what to do. */
export function vendorRefusal(status: unknown, words: string, called: CalledModel): string {
  const sentence = withoutKeys(words, called).replace(/[.\s]*$/, '')
  const http = typeof status === 'number' ? ` (HTTP ${status})` : ''
  return `${called.model}: ${sentence}${http}.${adviceFor(status, words, called)}`
}

function adviceFor(status: unknown, words: string, { key }: CalledModel): string {
  if (status === 401 || status === 403 || /api[ _-]key/i.test(words)) return ` Check ${key}.`
  if (status === 404) return ' Check the name of the model.'
  if (status === 429) return ' Try again later, or use another model.'
  return ''
}

/** A server may repeat the key that it refuses. */
function withoutKeys(words: string, { settings }: CalledModel): string {
  return withoutValues(words, secretsOf(settings))
}

/** The message in the body of an error: `{ message }`, or Anthropic's `{ error: { message } }`. */
function wordsIn(body: unknown): string | undefined {
  if (!isObject(body)) return undefined
  return typeof body.message === 'string' ? body.message : wordsIn(body.error)
}

/** What can go wrong with any vendor's stream; undefined for any other error. */
export function streamFailure(error: unknown): LlmResponse | undefined {
  const silence = silenceIn(error)
  if (silence !== undefined) return { errorCode: 'TIMEOUT', errorMessage: silence }
  if (isCutOff(error)) {
    return { errorCode: 'TRUNCATED', errorMessage: `the model's answer broke off before its end: ${reasonOf(error)}` }
  }
  if (!(error instanceof SyntaxError)) return undefined
  return { errorCode: 'MALFORMED', errorMessage: `the model sent a chunk that is not JSON: ${error.message}` }
}

/** Node's own error for a body that was cut off, and that of Google's SDK for one that does not end with a chunk. */
function isCutOff(error: unknown): boolean {
  return error instanceof Error && /^(?:terminated|Incomplete JSON segment at the end)$/.test(error.message)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${reasonOf(error.cause)})` : error.message
}
