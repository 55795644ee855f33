import type { LlmResponse } from '@google/adk'
import { isSilence } from './timed-fetch.ts'

/** The parts of an SDK's error classes that tell what happened. OpenAI's and Anthropic's SDKs have the same ones. */
export interface SdkErrors {
  readonly APIConnectionError: abstract new (...args: never[]) => Error
  readonly APIError: abstract new (...args: never[]) => Error & { readonly status?: unknown; readonly code?: unknown }
}

/** ADK expects an error as a response with a code; the run then fails with the server's message. */
export function modelFailure(error: unknown, { APIConnectionError, APIError }: SdkErrors): LlmResponse {
  const silence = causesOf(error).find(isSilence)
  if (silence !== undefined) return { errorCode: 'TIMEOUT', errorMessage: silence.message }
  if (error instanceof APIConnectionError) {
    return { errorCode: 'CONNECTION', errorMessage: `the model cannot be reached: ${reasonOf(error)}` }
  }
  if (error instanceof APIError) {
    const type: unknown = Reflect.get(error, 'type')
    return { errorCode: String(error.status ?? error.code ?? type ?? 'UNKNOWN_ERROR'), errorMessage: error.message }
  }
  if (error instanceof SyntaxError) {
    return { errorCode: 'MALFORMED', errorMessage: `the model sent a chunk that is not JSON: ${error.message}` }
  }
  return { errorCode: 'UNKNOWN_ERROR', errorMessage: reasonOf(error) }
}

export function causesOf(error: unknown): readonly unknown[] {
  return error instanceof Error && error.cause !== undefined ? [error, ...causesOf(error.cause)] : [error]
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${reasonOf(error.cause)})` : error.message
}
