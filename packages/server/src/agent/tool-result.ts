import { isJsonObject, isObject, isToolError, type JsonObject, parseJson } from '@millrace/core'
import { messageOf } from './problem.ts'

/** Greatest depth of a tool's result: the event around it adds a few levels, and ADK copies it recursively. */
const maxDepth = 400
const tooDeep = `nested deeper than ${maxDepth} levels`

/** A failed tool result, as the model and the log receive it. */
export function toolError(message: string): JsonObject {
  return { error: message }
}

/** Whether a result says that its tool failed. */
export function isFailedResult(response: unknown): boolean {
  return isObject(response) && isToolError(response.error)
}

/**
 * The JSON object for what a tool returned, as it goes to the model and into the log. Wrapped as ADK does it: a string in
 * `result`, a list in `results`. A value that is not JSON, or is too large, becomes an error that the author can act on.
 */
export function toolResult(tool: string, value: unknown, limit: number): JsonObject {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (error) {
    const reason = error instanceof RangeError ? tooDeep : messageOf(error).split('\n')[0]
    return toolError(`Tool '${tool}' returned a value that is not JSON: ${reason}`)
  }
  if (text === undefined) return { result: null }
  if (text.length > limit) return toolError(resultTooLarge(tool, text.length, limit))
  // Parsed again: the log's copy must not change when the tool's own object does.
  const parsed = parseJson(text, maxDepth)
  if ('reason' in parsed)
    return toolError(`Tool '${tool}' returned a value that is ${tooDeep}. Return a flatter value.`)
  const json = parsed.value
  if (Array.isArray(json)) return { results: json }
  return isJsonObject(json) ? json : { result: json }
}

/** The error for a tool result that is larger than the log accepts. */
export function resultTooLarge(tool: string, length: number, limit: number): string {
  return `Tool '${tool}' returned ${sizeText(length)} of JSON; the limit is ${sizeText(limit)}. Return a summary, or save it as an artifact.`
}

/** A number of characters as people read it: `12 kB`, `1.5 MB`. */
export function sizeText(characters: number): string {
  return characters >= 1e6 ? `${(characters / 1e6).toFixed(1)} MB` : `${Math.ceil(characters / 1e3)} kB`
}

/** Why the arguments do not fit the schema, on one line (zod's own message is JSON over many). Undefined when they do. */
export function argsProblem(parameters: unknown, args: unknown): string | undefined {
  if (!isObject(parameters) || typeof parameters.safeParse !== 'function') return undefined
  const parsed: unknown = parameters.safeParse(args)
  if (!isObject(parsed) || parsed.success !== false) return undefined
  const issues = isObject(parsed.error) && Array.isArray(parsed.error.issues) ? parsed.error.issues : []
  const messages = issues.map((issue: unknown) => {
    if (!isObject(issue)) return ''
    const path = Array.isArray(issue.path) ? issue.path.join('.') : ''
    return path === '' ? String(issue.message) : `${path}: ${String(issue.message)}`
  })
  return messages.join('; ') || 'they do not fit the schema'
}
