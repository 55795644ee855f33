import { isJsonObject, isObject, type JsonObject, parseJson } from '@millrace/core'
import { messageOf } from './problem.ts'

/** As deep as a tool's answer may be: the event around it has a few levels of its own, and ADK copies it recursively. */
const maxDepth = 400
const tooDeep = `nested deeper than ${maxDepth} levels`

/** A failed tool result: what the model is told, and what the log shows. */
export function toolError(message: string): JsonObject {
  return { error: message }
}

/**
 * What a tool returned, as the JSON object that goes to the model and into the log. ADK's own wrapping: a string in
 * `result`, a list in `results`. What is not JSON, or too much of it, is an error the author can act on.
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
  if (text.length > limit) return toolError(tooMuch(tool, text.length, limit))
  // Parsed again: the log's copy must not change when the tool's own object does.
  const parsed = parseJson(text, maxDepth)
  if ('reason' in parsed) return toolError(`Tool '${tool}' returned a value that is ${tooDeep}. Return a flatter one.`)
  const json = parsed.value
  if (Array.isArray(json)) return { results: json }
  return isJsonObject(json) ? json : { result: json }
}

/** For the author of a tool that returns more than the log takes. */
export function tooMuch(tool: string, length: number, limit: number): string {
  return `Tool '${tool}' returned ${size(length)} of JSON; the limit is ${size(limit)}. Return a summary, or save it as an artifact.`
}

/** For people. */
export function size(characters: number): string {
  return characters >= 1e6 ? `${(characters / 1e6).toFixed(1)} MB` : `${Math.ceil(characters / 1e3)} kB`
}

/** Zod's own message is JSON over many lines; this is one a model and a person can read. Undefined when valid. */
export function argsProblem(parameters: unknown, args: unknown): string | undefined {
  if (!isObject(parameters) || typeof parameters.safeParse !== 'function') return undefined
  const parsed: unknown = parameters.safeParse(args)
  if (!isObject(parsed) || parsed.success !== false) return undefined
  const issues = isObject(parsed.error) && Array.isArray(parsed.error.issues) ? parsed.error.issues : []
  const told = issues.map((issue: unknown) => {
    if (!isObject(issue)) return ''
    const path = Array.isArray(issue.path) ? issue.path.join('.') : ''
    return path === '' ? String(issue.message) : `${path}: ${String(issue.message)}`
  })
  return told.join('; ') || 'they do not fit the schema'
}
