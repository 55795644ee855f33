import { isObject } from '@millrace/core'

/** Arguments that are not a JSON object are kept as text: the tool is not run, and the model gets an error. */
export function readToolArgs(text: string): { args: Record<string, unknown>; invalidArgs?: string } {
  if (text.trim() === '') return { args: {} }
  try {
    const args: unknown = JSON.parse(text)
    if (isObject(args)) return { args: { ...args } }
  } catch {
    // Not JSON.
  }
  return { args: {}, invalidArgs: text }
}
