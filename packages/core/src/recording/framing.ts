import { isJsonObject, type JsonObject, parseJson } from '../json/json.ts'

/**
 * How the text of a recording is cut into frames: SSE, one JSON value a line, or one JSON document with all of them.
 */
export type Framing = 'sse' | 'lines' | 'document'

/** No line of SSE begins with a bracket. A text that begins with one is lines of JSON, a list, or an ADK session. */
export function detectFraming(text: string): Framing {
  return framingOf(text, true) ?? 'lines'
}

/** The framing of a text of which only the beginning is known, unless `over`; undefined while more of it is needed. */
export function framingOf(text: string, over: boolean): Framing | undefined {
  const start = text.search(/[^\uFEFF\s]/)
  if (start === -1) return over ? 'sse' : undefined
  if (text[start] === '[') return 'document'
  if (text[start] !== '{') return 'sse'
  const first = lineAt(text, start, over)
  if (first === undefined) return undefined
  const value = objectIn(first.text)
  if (value !== undefined) return isEnvelope(value) ? 'document' : 'lines'
  // The first line is not JSON. If the second line is, the first one is damaged; else this is a document of many lines.
  const second = lineAt(text, first.end, over)
  if (second === undefined) return over ? 'document' : undefined
  return objectIn(second.text) === undefined ? 'document' : 'lines'
}

/** The next line that is not blank; undefined when its end is not known yet, or no line is left. */
function lineAt(
  text: string,
  from: number,
  over: boolean,
): { readonly text: string; readonly end: number } | undefined {
  for (let start = from; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    if (newline === -1 && !over) return undefined
    const end = newline === -1 ? text.length : newline + 1
    const line = text.slice(start, end)
    if (/\S/.test(line)) return { text: line, end }
    start = end
  }
  return undefined
}

function objectIn(line: string): JsonObject | undefined {
  const parsed = parseJson(line)
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : undefined
}

/**
 * Whether it is an ADK session: an object around a list of events. An event has an author or a type, in any dialect.
 */
function isEnvelope({ events, author, type }: JsonObject): boolean {
  return Array.isArray(events) && author === undefined && type === undefined
}
