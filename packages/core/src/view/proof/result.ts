import { isObject } from '../../json/json.ts'

/** The value of a layer in JSON that cannot be read. */
export const brokenJson = Symbol('broken JSON')

/** The parts of a result (a function's response, an agent's JSON output, a state value) that evidence can be read from. */
export interface ResultParts {
  /** A `proof_layer`, not yet checked; `brokenJson` if the JSON around it cannot be read. */
  readonly layer?: { readonly value: unknown; readonly path: string }
  /** The texts to read if there is no layer. */
  readonly texts: readonly { readonly text: string; readonly path: string }[]
  /** Results of others inside this one, by name: a tool that asks several specialists returns these. */
  readonly inner: readonly { readonly name: string; readonly parts: ResultParts }[]
}

interface Collected {
  layer?: { value: unknown; path: string }
  readonly texts: { text: string; path: string }[]
  readonly inner: { name: string; parts: ResultParts }[]
}

/** Fields that wrap the result itself (ADK, LangChain and MCP tools), so that their content belongs to the result. */
const wrappers = new Set(['result', 'output', 'response', 'content'])
/** `{ result: { content: [{ text }] } }` is the deepest wrapping seen; below that it is data. */
const deepest = 4
const mostInner = 100

/** Looks only where a layer or a text may be: through a few levels of wrapping, never through a whole document. */
export function resultParts(value: unknown, path = ''): ResultParts {
  const parts: Collected = { texts: [], inner: [] }
  collect(value, path, parts, 0)
  return parts
}

function collect(value: unknown, path: string, into: Collected, depth: number): void {
  if (depth > deepest) return
  if (typeof value === 'string') {
    const json = jsonWithLayer(value)
    if (json === brokenJson) into.layer ??= { value: json, path }
    if (json === undefined || json === brokenJson) into.texts.push({ text: value, path })
    else collect(json, path, into, depth + 1)
    return
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (isObject(item) && typeof item.text === 'string')
        into.texts.push({ text: item.text, path: at(path, `${index}.text`) })
    }
    return
  }
  if (!isObject(value)) return
  for (const [key, field] of Object.entries(value)) {
    if (key === 'proof_layer') {
      if (field !== null) into.layer ??= { value: field, path: at(path, key) }
    } else if (typeof field === 'string' || wrappers.has(key)) collect(field, at(path, key), into, depth + 1)
    else if (depth === 0 && isResult(field) && into.inner.length < mostInner) {
      into.inner.push({ name: key, parts: resultParts(field, at(path, key)) })
    }
  }
}

/** Whether a field is the result of a specialist: it has a layer, or a text called `result`. */
function isResult(value: unknown): boolean {
  return isObject(value) && ((value.proof_layer ?? undefined) !== undefined || typeof value.result === 'string')
}

/** The JSON in a string, bare or in a code fence, but only if it may contain a layer: other JSON is read as text. */
function jsonWithLayer(text: string): unknown {
  if (!text.includes('"proof_layer"')) return undefined
  const start = text.indexOf('{')
  const end = text.lastIndexOf('}')
  if (start < 0 || !/^\s{0,100}(?:```(?:json)?\s{0,10})?$/i.test(text.slice(Math.max(0, start - 120), start)))
    return undefined
  try {
    return JSON.parse(text.slice(start, end + 1))
  } catch {
    return brokenJson
  }
}

function at(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}
