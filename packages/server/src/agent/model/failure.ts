import type { LlmResponse } from '@google/adk'
import { silenceIn } from './timed-fetch.ts'

/** The parts of an SDK's error classes that tell what happened. OpenAI's and Anthropic's SDKs have the same ones. */
export interface SdkErrors {
  readonly APIConnectionError: abstract new (...args: never[]) => Error
  readonly APIError: abstract new (...args: never[]) => Error & { readonly status?: unknown; readonly code?: unknown }
}

/** ADK expects an error as a response with a code; the run then fails with the server's message. */
export function modelFailure(error: unknown, { APIConnectionError, APIError }: SdkErrors): LlmResponse {
  const failure = streamFailure(error)
  if (failure !== undefined) return failure
  if (error instanceof APIConnectionError) {
    return { errorCode: 'CONNECTION', errorMessage: `the model cannot be reached: ${reasonOf(error)}` }
  }
  if (error instanceof APIError) {
    const type: unknown = Reflect.get(error, 'type')
    return { errorCode: String(error.status ?? error.code ?? type ?? 'UNKNOWN_ERROR'), errorMessage: error.message }
  }
  return { errorCode: 'UNKNOWN_ERROR', errorMessage: reasonOf(error) }
}

/** What can go wrong with any vendor's stream; undefined for any other error. */
export function streamFailure(error: unknown): LlmResponse | undefined {
  const silence = silenceIn(error)
  if (silence !== undefined) return { errorCode: 'TIMEOUT', errorMessage: silence }
  if (!(error instanceof SyntaxError)) return undefined
  return { errorCode: 'MALFORMED', errorMessage: `the model sent a chunk that is not JSON: ${error.message}` }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${reasonOf(error.cause)})` : error.message
}
