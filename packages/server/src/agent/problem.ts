import { isObject, MillraceError, type Problem } from '@millrace/core'
import { withoutPaths } from './author-place.ts'
import { missingPackage } from './optional-package.ts'
import { withoutOwnSecrets } from './own-secrets.ts'

/** An ADK error event or a thrown error, as the problem that a run ends with. */
export function problemOf(source: unknown): Problem {
  if (source instanceof MillraceError) return { code: source.code, message: source.message }
  if (isObject(source) && typeof source.errorCode === 'string') {
    const message = typeof source.errorMessage === 'string' && source.errorMessage !== '' ? source.errorMessage : ''
    return {
      code: 'model-error',
      message: message || `the model failed with ${source.errorCode}`,
      source: source.errorCode,
    }
  }
  return { code: 'agent-error', message: messageOf(source) }
}

const longestMessage = 2_000
const wordless = 'the thrown value has no message'

/**
 * The message of a thrown value, without paths of this machine and secrets: clients see it. The value can be anything;
 * an object without a prototype makes String() itself throw.
 */
export function messageOf(error: unknown): string {
  try {
    const words = wordsOf(error)
    return withoutPaths(withoutOwnSecrets(missingPackage(words) ?? words)).slice(0, longestMessage) || wordless
  } catch {
    return wordless
  }
}

/** A thrown value for the server's log. */
export interface Explained {
  readonly message: string
  readonly stack?: string
}

/** The message and the stack of a thrown value, without the secrets of agents. */
export function explainThrown(error: unknown): Explained {
  const stack: unknown = error instanceof Error ? error.stack : undefined
  return { message: messageOf(error), ...(typeof stack === 'string' ? { stack: withoutOwnSecrets(stack) } : {}) }
}

function wordsOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { message, name, error: inner }: { message?: unknown; name?: unknown; error?: unknown } = error
  if (typeof message === 'string' && message !== '') return message
  // The HTTP clients of some vendors throw the body of the answer.
  if (isObject(inner) && typeof inner.message === 'string') return inner.message
  if (error instanceof Error && typeof name === 'string') return name
  return Object.keys(error).length === 0 ? '' : JSON.stringify(error)
}
