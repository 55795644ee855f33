import { isObject, MillraceError, type Problem } from '@millrace/core'

/** What an ADK error event or a thrown error says, as the run's reason. */
export function problemOf(source: unknown): Problem {
  if (source instanceof MillraceError) return { code: source.code, message: source.message }
  if (source instanceof Error) return { code: 'agent-error', message: source.message || source.name }
  if (isObject(source) && typeof source.errorCode === 'string') {
    const message = typeof source.errorMessage === 'string' && source.errorMessage !== '' ? source.errorMessage : ''
    return {
      code: 'model-error',
      message: message || `the model failed with ${source.errorCode}`,
      source: source.errorCode,
    }
  }
  return { code: 'agent-error', message: String(source) }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}
